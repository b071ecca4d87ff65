// Measures how an application with many routes starts, each route with schemas of its own: by yup, and by mortar/yup.
// Run: npx tsx --conditions=source bench/scale.ts [--routes 10000] [--runs 5]
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildWhenStale } from './build.ts'
import { spreadOf } from './statistics.ts'

/** CPU in ms, memory in MB; `rss` before a collection, `heap` after it. */
interface Cost {
  readonly cpu: number
  readonly rss: number
  readonly heap: number
}

interface Start {
  /** Making the schemas and the router. */
  readonly schemas: Cost
  /** From there to the first response. */
  readonly application: Cost
}

const { values } = parseArgs({
  options: { routes: { type: 'string', default: '10000' }, runs: { type: 'string', default: '5' } },
})
buildWhenStale()
const packages = { yup: 'yup', 'mortar/yup': join(import.meta.dirname, '../src/dist/schema/yup/entry.js') }
const starts = Object.entries(packages).map(([name, path]) => ({ name, path, costs: [] as Start[] }))
for (let run = 0; run < Number(values.runs); run++)
  for (const { path, costs } of starts) costs.push(start(values.routes, path))
for (const { name, costs } of starts) {
  report(
    `schemas of ${name}, and router`,
    costs.map(({ schemas }) => schemas),
  )
  report(
    'start to the first response',
    costs.map(({ application }) => application),
  )
}

function start(routes: string, yup: string): Start {
  const script = join(import.meta.dirname, 'work/starting/many-routes.js')
  const env = { PATH: process.env['PATH'], NODE_ENV: 'production', ROUTES: routes, YUP: yup }
  const { stdout, stderr } = spawnSync(process.execPath, ['--expose-gc', script], { encoding: 'utf8', env })
  if (stdout === '') throw new Error(`The application did not start:\n${stderr}`)
  return JSON.parse(stdout) as Start
}

function report(what: string, costs: readonly Cost[]): void {
  const median = (of: keyof Cost): string => spreadOf(costs.map((cost) => cost[of])).median.toFixed(0)
  console.log(
    `${what.padEnd(36)} CPU ${median('cpu')} ms  RSS ${median('rss')} MB  heap ${median('heap')} MB`,
  )
}
