/**
 * Measures Mortar beside raw node:http, Fastify and others: `npm run bench -- --help`. See `bench/README.md`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HELP, readOptions, RESULTS, type BenchOptions } from './options.ts'
import { isPinned } from './cores.ts'
import { buildWhenStale } from './build.ts'
import { goalTable } from './goals.ts'
import { createAutocannon, createLoad, type Load } from './load/load.ts'
import { createWrk } from './load/wrk.ts'
import { loginTable, measureLogin } from './login.ts'
import { measureWorkload } from './measure.ts'
import { withTable } from './readme-table.ts'
import { table, writeResults } from './report.ts'
import { summaryOf, type Result } from './results.ts'
import { WORKLOADS } from './workloads/all.ts'
import { NotMeasured } from './workloads/workload.ts'

const LOADS = { own: createLoad, wrk: createWrk, autocannon: createAutocannon }
const README = join(import.meta.dirname, '../README.md')

const argv = process.argv.slice(2)
if (argv.includes('--help')) console.log(HELP)
else await main(readOptions(argv))

async function main(options: BenchOptions): Promise<void> {
  if (options.build) buildWhenStale()
  if (!isPinned) console.warn('Server and client share cores here: ratios are rough, p99 says little.')
  const load = LOADS[options.load]()
  try {
    await measureAll(options, load)
  } finally {
    load.stop()
  }
}

async function measureAll(options: BenchOptions, load: Load): Promise<void> {
  const begin = performance.now()
  const results: Result[] = []
  const notes: string[] = []
  // Written again after each workload, so that the finished ones outlive a failure.
  const write = (): void => {
    const more = [...notes, ...goalTable(results.map(summaryOf))]
    if (options.out !== undefined) writeResults(results, options, { load: load.name, more })
  }
  for (const workload of WORKLOADS.filter(({ id }) => options.workloads.includes(id))) {
    const result = await measureWorkload(workload, options, load).catch((error: unknown) => {
      if (!(error instanceof NotMeasured)) throw error
      notes.push(`### ${workload.id}: not measured\n\n${error.message}`)
      console.warn(`\n${notes.at(-1)}`)
      return undefined
    })
    if (result === undefined || result.length === 0) continue
    results.push({ workload, series: result })
    console.log(`\n${table(results.at(-1)!)}`)
    write()
  }
  if (options.workloads.includes('g')) notes.push(loginTable(await measureLogin(options)))
  notes.push(`The run took ${((performance.now() - begin) / 60_000).toFixed(1)} minutes.`)
  write()
  if (options.out === RESULTS)
    writeFileSync(README, withTable(readFileSync(README, 'utf8'), results.map(summaryOf)))
  for (const text of [...notes, ...goalTable(results.map(summaryOf))]) console.log(`\n${text}`)
}
