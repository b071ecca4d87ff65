import { parseArgs } from 'node:util'
import { PEERS } from './peers.ts'
import { KNOWN, WHOLE_RUN } from './workloads/all.ts'

/** Results of whole runs. */
export const RESULTS = `${import.meta.dirname}/results`

/** The options of `npm run bench`. */
export interface BenchOptions {
  readonly workloads: readonly string[]
  /** Undefined for the servers that each workload names. */
  readonly peers: readonly string[] | undefined
  /** Other builds of Mortar to measure beside this one: name, and the folder of a built checkout or of `scripts/build.mjs`. */
  readonly builds: readonly { readonly name: string; readonly dist: string }[]
  /** Of each server, one after another. */
  readonly processes: number
  /** Of each process. */
  readonly rounds: number
  /** Of one round of one server. */
  readonly seconds: number
  readonly warmUp: number
  readonly connections: number
  readonly pipelining: number
  readonly load: 'own' | 'wrk' | 'autocannon'
  readonly build: boolean
  /** Folder of the results, or undefined when none are written. */
  readonly out: string | undefined
}

export const HELP = `npm run bench -- [options]

  --workloads a,b,e:1000   some of a to n; e:10, e:1000:last, m:sqlite for parts of one
  --peers raw,fastify      some of ${PEERS.join(' ')}
                           (by default those that bench/README.md names for each workload)
  --against name=folder    another build of Mortar, as often as wanted
  --processes 2 --rounds 7 --seconds 0.3 --warm-up 2
  --connections 50 --pipelining 1
  --load own|wrk|autocannon (own)
  --quick                  raw, raw-tuned, mortar and fastify; one process, 5 rounds
  --out folder             writes bench.md, bench.json and bench.svg there; without it, only a whole run
                           writes, to bench/results, and updates the table of README.md
  --no-build               takes the build as it is
  --no-write               prints only
`

/** @throws Error for an unknown option or value. */
export function readOptions(argv: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      workloads: { type: 'string' },
      peers: { type: 'string' },
      against: { type: 'string', multiple: true },
      processes: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      'warm-up': { type: 'string' },
      connections: { type: 'string' },
      pipelining: { type: 'string' },
      load: { type: 'string' },
      out: { type: 'string' },
      quick: { type: 'boolean' },
      'no-build': { type: 'boolean' },
      'no-write': { type: 'boolean' },
    },
  })
  const quick = values.quick === true
  const all = quick ? WHOLE_RUN.filter((id) => !SLOW_TO_START.includes(id)) : WHOLE_RUN
  return {
    workloads: values.workloads === undefined ? all : chosenWorkloads(values.workloads),
    peers: chosenPeers(values.peers ?? (quick ? QUICK_PEERS : undefined)),
    builds: (values.against ?? []).map(readBuild),
    processes: numberOf('processes', values.processes, quick ? 1 : 2),
    rounds: numberOf('rounds', values.rounds, quick ? 5 : 7),
    seconds: numberOf('seconds', values.seconds, 0.3),
    warmUp: numberOf('warm-up', values['warm-up'], quick ? 1.5 : 2),
    connections: numberOf('connections', values.connections, 50),
    pipelining: numberOf('pipelining', values.pipelining, 1),
    load: loadOf(values.load),
    build: values['no-build'] !== true,
    out: folderOf(values, quick),
  }
}

/** Part of a run does not replace the results of a whole one. */
function folderOf(
  values: { 'no-write'?: boolean; out?: string; workloads?: string; peers?: string },
  quick: boolean,
): string | undefined {
  if (values['no-write'] === true) return undefined
  const isWhole = !quick && values.workloads === undefined && values.peers === undefined
  return values.out ?? (isWhole ? RESULTS : undefined)
}

const QUICK_PEERS = 'raw,raw-tuned,mortar,fastify'
const SLOW_TO_START = ['d:many', 'e:10000:last']

function chosenWorkloads(list: string): string[] {
  return list.split(',').flatMap((wanted) => {
    const found = KNOWN.filter((id) => id === wanted || id.startsWith(`${wanted}:`))
    if (found.length === 0) throw new Error(`Unknown workload '${wanted}'. Use ${KNOWN.join(', ')}.`)
    return found
  })
}

function chosenPeers(list: string | undefined): string[] | undefined {
  const peers = list?.split(',')
  const unknown = peers?.find((peer) => !PEERS.includes(peer))
  if (unknown !== undefined) throw new Error(`Unknown peer '${unknown}'. Use ${PEERS.join(', ')}.`)
  return peers
}

function readBuild(text: string): { name: string; dist: string } {
  const mark = text.indexOf('=')
  if (mark < 1) throw new Error(`--against takes name=folder, not '${text}'.`)
  return { name: text.slice(0, mark), dist: text.slice(mark + 1) }
}

function numberOf(name: string, text: string | undefined, fallback: number): number {
  const value = text === undefined ? fallback : Number(text)
  if (!(value > 0)) throw new Error(`--${name} takes a number above 0, not '${text}'.`)
  return value
}

function loadOf(name = 'own'): BenchOptions['load'] {
  if (name === 'own' || name === 'wrk' || name === 'autocannon') return name
  throw new Error(`--load takes own, wrk or autocannon, not '${name}'.`)
}
