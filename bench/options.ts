import { parseArgs } from 'node:util'

/** What `npm run bench` was asked to do. */
export interface BenchOptions {
  readonly workloads: readonly string[]
  readonly peers: readonly string[]
  /** Other builds of Mortar to measure beside this one: name and `dist` folder. */
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

export const PEERS = [
  'raw',
  'mortar',
  'fastify',
  'h3',
  'hono',
  'koa',
  'koa-stack',
  'nest',
  'express',
] as const

export const HELP = `npm run bench -- [options]

  --workloads a,b,e:1000   some of a b c d e f g; e:10, e:1000:last for parts of e (all)
  --peers raw,fastify      some of ${PEERS.join(' ')} (all)
  --against name=dist      another build of Mortar, as often as wanted
  --processes 2 --rounds 10 --seconds 0.3 --warm-up 3
  --connections 50 --pipelining 1
  --load own|wrk|autocannon (own)
  --quick                  raw, mortar, fastify and koa-stack; one process, 5 rounds
  --no-build               takes dist as it is
  --no-write               leaves bench/results alone
`

/** @throws Error for an unknown option or value. */
export function readOptions(argv: readonly string[], knownWorkloads: readonly string[]): BenchOptions {
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
  const all = quick ? QUICK_WORKLOADS : knownWorkloads
  return {
    workloads: values.workloads === undefined ? all : chosenWorkloads(values.workloads, knownWorkloads),
    peers: chosenPeers(values.peers ?? (quick ? 'raw,mortar,fastify,koa-stack' : PEERS.join(','))),
    builds: (values.against ?? []).map(readBuild),
    processes: numberOf('processes', values.processes, quick ? 1 : 2),
    rounds: numberOf('rounds', values.rounds, quick ? 5 : 10),
    seconds: numberOf('seconds', values.seconds, 0.3),
    warmUp: numberOf('warm-up', values['warm-up'], quick ? 1.5 : 3),
    connections: numberOf('connections', values.connections, 50),
    pipelining: numberOf('pipelining', values.pipelining, 1),
    load: loadOf(values.load),
    build: values['no-build'] !== true,
    out: values['no-write'] === true ? undefined : (values.out ?? `${import.meta.dirname}/results`),
  }
}

const QUICK_WORKLOADS = ['a', 'b', 'c', 'd', 'd:off', 'd:many', 'e:10:last', 'e:1000:last', 'f', 'g']

function chosenWorkloads(list: string, known: readonly string[]): string[] {
  return list.split(',').flatMap((wanted) => {
    const found = known.filter((id) => id === wanted || id.startsWith(`${wanted}:`))
    if (found.length === 0)
      throw new Error(`There is no workload '${wanted}'; there are ${known.join(', ')}.`)
    return found
  })
}

function chosenPeers(list: string): string[] {
  const peers = list.split(',')
  const unknown = peers.find((peer) => !(PEERS as readonly string[]).includes(peer))
  if (unknown !== undefined) throw new Error(`There is no peer '${unknown}'; there are ${PEERS.join(', ')}.`)
  return ['raw', ...peers.filter((peer) => peer !== 'raw')]
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
