/**
 * Measures how an application starts and what it keeps: time to the first response, memory, what each import costs, and
 * whether the heap stays flat: `npm run bench:start`, with `--full` over a million requests and 100,000 refreshes.
 */
import { parseArgs } from 'node:util'
import { buildWhenStale } from './build.ts'
import { coldStarts } from './cold-start.ts'
import { heapOverRefreshes, heapOverRequests, type HeapCourse } from './heap.ts'
import { importCosts } from './import-costs.ts'

const MOST_MS = 200
const MOST_MEGABYTES = 60
const MOST_GROWTH = 1.05

const { values } = parseArgs({ options: { full: { type: 'boolean' }, 'no-build': { type: 'boolean' } } })
const full = values.full === true
if (values['no-build'] !== true) buildWhenStale()

const failures: string[] = []
console.log(
  '### Cold start\n\n| application | first response, ms | least | RSS, MB |\n| --- | ---: | ---: | ---: |',
)
for await (const { name, ms, least, megabytes, limited } of coldStarts(full ? 15 : 7)) {
  console.log(`| ${name} | ${ms.toFixed(0)} | ${least.toFixed(0)} | ${megabytes.toFixed(0)} |`)
  if (limited && (least > MOST_MS || megabytes > MOST_MEGABYTES))
    failures.push(
      `${name}: ${least.toFixed(0)} ms and ${megabytes.toFixed(0)} MB; the limits are ${MOST_MS} and ${MOST_MEGABYTES}.`,
    )
}

console.log('\n### What each import costs by itself\n\n| import | ms | MB |\n| --- | ---: | ---: |')
for (const { name, ms, megabytes } of await importCosts())
  console.log(`| ${name} | ${ms.toFixed(0)} | ${megabytes.toFixed(1)} |`)

console.log('\n### Heap after a collection, MB, after each tenth\n')
report(await heapOverRequests(full ? 1_000_000 : 200_000))
report(await heapOverRefreshes(full ? 100_000 : 2_000))

for (const failure of failures) console.error(failure)
process.exitCode = failures.length > 0 ? 1 : 0

function report({ what, heaps }: HeapCourse): void {
  console.log(`${what}: ${heaps.map((bytes) => (bytes / 1e6).toFixed(1)).join(' ')}`)
  // The first fifth warms up: code is compiled, caches fill.
  const [early, late] = [heaps[2]!, heaps.at(-1)!]
  if (late > early * MOST_GROWTH) failures.push(`${what}: the heap grew from ${early} to ${late} bytes.`)
}
