/**
 * Measures Mortar beside raw node:http, Fastify and others: `npm run bench -- --help`. See `bench/README.md`.
 */
import { HELP, readOptions, type BenchOptions } from './options.ts'
import { isPinned } from './cores.ts'
import { buildWhenStale } from './build.ts'
import { goalTable } from './goals.ts'
import { createLoad, type Load } from './load/load.ts'
import { createWrk } from './load/wrk.ts'
import { loginTable, measureLogin } from './login.ts'
import { measureWorkload } from './measure.ts'
import { table, writeResults } from './report.ts'
import type { Result } from './results.ts'
import { WORKLOADS } from './workloads.ts'

const argv = process.argv.slice(2)
if (argv.includes('--help')) console.log(HELP)
else await main(readOptions(argv, [...WORKLOADS.map(({ id }) => id), 'g']))

async function main(options: BenchOptions): Promise<void> {
  if (options.build) buildWhenStale()
  if (!isPinned) console.warn('Server and client share cores here: ratios are rough, p99 says little.')
  const load = options.load === 'wrk' ? createWrk() : createLoad(options.load)
  try {
    await measureAll(options, load)
  } finally {
    load.stop()
  }
}

async function measureAll(options: BenchOptions, load: Load): Promise<void> {
  const results: Result[] = []
  // Written again after each workload, so that what was measured outlives a failure.
  const write = (more: readonly string[]): void => {
    if (options.out !== undefined)
      writeResults(results, options, { load: load.name, more: [...more, ...goalTable(results)] })
  }
  for (const workload of WORKLOADS.filter(({ id }) => options.workloads.includes(id))) {
    results.push({ workload, series: await measureWorkload(workload, options, load) })
    console.log(`\n${table(results.at(-1)!)}`)
    write([])
  }
  const login = options.workloads.includes('g') ? [loginTable(await measureLogin(options))] : []
  write(login)
  for (const text of [...login, ...goalTable(results)]) console.log(`\n${text}`)
}
