import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { isPinned } from './cores.ts'
import type { BenchOptions } from './options.ts'
import { plot } from './plot.ts'
import type { Series } from './series.ts'
import { pairedRatios, spreadOf, type Spread } from './statistics.ts'
import { cpuRatio, numbers, summaryOf, type Result } from './results.ts'

const HEAD = [
  'server',
  'CPU µs/request',
  'least',
  '÷ raw',
  '÷ tuned',
  '÷ Fastify',
  'requests/s',
  '÷ raw',
  'p99 ms',
  'client busy',
  'MB',
  'start ms',
]

/** A Markdown table of one workload, the lightest server first. */
export function table({ workload, series }: Result): string {
  const [raw, tuned, fastify] = ['raw', 'raw-tuned', 'fastify'].map((name) =>
    series.find(({ server }) => server === name),
  )
  const first = raw ?? series[0]
  const rows = [...series]
    .toSorted((a, b) => cpuRatio(a, first).median - cpuRatio(b, first).median)
    .map((each) => rowOf(each, { raw, tuned, fastify }))
  const lines = [HEAD, HEAD.map((_, index) => (index === 0 ? '---' : '---:')), ...rows]
  return `### ${workload.id}: ${workload.title}\n\n${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}`
}

type Bases = Readonly<Record<'raw' | 'tuned' | 'fastify', Series | undefined>>

function rowOf(series: Series, { raw, tuned, fastify }: Bases): string[] {
  const cpu = numbers(series, 'cpu')
  const throughput = numbers(series, 'perSecond')
  return [
    series.server,
    withSpread(spreadOf(cpu), 1),
    Math.min(...cpu).toFixed(1),
    withSpread(cpuRatio(series, raw), 2),
    withSpread(cpuRatio(series, tuned), 2),
    withSpread(cpuRatio(series, fastify), 2),
    withSpread(spreadOf(throughput), 0),
    raw ? pairedRatios(throughput, numbers(raw, 'perSecond')).median.toFixed(2) : '–',
    withSpread(spreadOf(numbers(series, 'p99')), 1),
    shareOf(spreadOf(numbers(series, 'clientBusy')).median),
    (series.rss / 1e6).toFixed(0),
    series.startMs.toFixed(0),
  ]
}

/** wrk does not tell how busy it was. */
function shareOf(share: number): string {
  return Number.isNaN(share) ? '–' : share.toFixed(2)
}

function withSpread({ median, q25, q75 }: Spread, digits: number): string {
  if (Number.isNaN(median)) return '–'
  return `${median.toFixed(digits)} [${q25.toFixed(digits)}–${q75.toFixed(digits)}]`
}

/** Writes `bench.md`, `bench.json` and `bench.svg`. */
export function writeResults(
  results: readonly Result[],
  options: BenchOptions,
  { load, more }: { load: string; more: readonly string[] },
): void {
  const { out } = options
  if (out === undefined) return
  mkdirSync(out, { recursive: true })
  const parts = [heading(options, load), ...results.map(table), ...more]
  writeFileSync(join(out, 'bench.md'), `${parts.join('\n\n')}\n`)
  writeFileSync(join(out, 'bench.json'), `${JSON.stringify(results.map(summaryOf), null, 1)}\n`)
  writeFileSync(join(out, 'bench.svg'), plot(results))
}

function heading(
  { processes, rounds, seconds, warmUp, connections, pipelining }: BenchOptions,
  load: string,
): string {
  const machine = `${cpus()[0]?.model ?? 'unknown CPU'}, ${availableParallelism()} cores`
  const cores = isPinned ? 'server and client on a core each' : 'server and client not pinned'
  return `# Results

Node ${process.version}, ${machine}, ${process.platform}; ${cores}. Load: ${load}, ${connections} connections, ${pipelining} under way on each.
${processes} processes of each server, ${rounds} rounds of ${seconds} s each, in turns, after ${warmUp} s of warm-up. Median [q25–q75]; ratios are taken round by round.`
}
