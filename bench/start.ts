/**
 * Measures how an application starts and what it keeps: time to the first response, memory, what each import costs, and
 * whether the heap stays flat: `npm run bench:start`, with `--full` over a million requests and 100,000 refreshes.
 * Writes `bench/results/start.md`, except with `--no-write`.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { buildWhenStale } from './build.ts'
import { coldStarts, type ColdStart } from './cold-start.ts'
import { heapOverRefreshes, heapOverRequests, type HeapCourse } from './heap.ts'
import { importCosts } from './import-costs.ts'

const MOST_MS = 200
const MOST_GROWTH = 1.05

const { values } = parseArgs({
  options: { full: { type: 'boolean' }, 'no-build': { type: 'boolean' }, 'no-write': { type: 'boolean' } },
})
const full = values.full === true
if (values['no-build'] !== true) buildWhenStale()

const lines: string[] = []
const failures: string[] = []
const runs = full ? 15 : 7
say(`# Start and memory

Node ${process.version}, ${cpus()[0]?.model ?? 'unknown CPU'}, ${availableParallelism()} cores, ${process.platform}.

## Cold start

From the start of the process to the end of its first response, and the resident memory right after it: ${runs} starts
of each, in turns, not pinned to a core.

| application | ms, median | least | RSS in MB, median | least |
| --- | ---: | ---: | ---: | ---: |`)
for (const start of await coldStarts(runs)) reportStart(start)

say(`
## What each import costs by itself

| import | ms | MB |
| --- | ---: | ---: |`)
for (const { name, ms, megabytes } of await importCosts())
  say(`| ${name} | ${ms.toFixed(0)} | ${megabytes.toFixed(1)} |`)

say('\n## Heap after a collection, MB, after each tenth\n')
reportHeap(await heapOverRequests(full ? 1_000_000 : 200_000))
reportHeap(await heapOverRefreshes(full ? 100_000 : 2_000))

if (values['no-write'] !== true) writeResults()
for (const failure of failures) console.error(failure)
process.exitCode = failures.length > 0 ? 1 : 0

function say(text: string): void {
  console.log(text)
  lines.push(text)
}

function reportStart({ name, ms, megabytes, mostMegabytes }: ColdStart): void {
  const figures = [ms.median, ms.least, megabytes.median, megabytes.least]
  say(`| ${name} | ${figures.map((figure, index) => figure.toFixed(index < 2 ? 0 : 1)).join(' | ')} |`)
  // The least time, because other load only adds to it.
  if (mostMegabytes !== undefined && (ms.least > MOST_MS || megabytes.median > mostMegabytes))
    failures.push(
      `${name}: ${ms.least.toFixed(0)} ms and ${megabytes.median.toFixed(1)} MB; the limits are ${MOST_MS} and ${mostMegabytes}.`,
    )
}

function reportHeap({ what, heaps }: HeapCourse): void {
  say(`- ${what}: ${heaps.map((bytes) => (bytes / 1e6).toFixed(1)).join(' ')}`)
  // The first fifth warms up: code is compiled, caches fill.
  const [early, late] = [heaps[2]!, heaps.at(-1)!]
  if (late > early * MOST_GROWTH) failures.push(`${what}: the heap grew from ${early} to ${late} bytes.`)
}

function writeResults(): void {
  const folder = `${import.meta.dirname}/results`
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/start.md`, `${lines.join('\n')}\n`)
}
