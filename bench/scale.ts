// Measures how an application with many routes starts, each route with schemas of its own.
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
  /** Making the schemas by yup, and the router. */
  readonly schemas: Cost
  /** From there to the first response. */
  readonly application: Cost
}

const { values } = parseArgs({
  options: { routes: { type: 'string', default: '10000' }, runs: { type: 'string', default: '5' } },
})
buildWhenStale()
const starts = Array.from({ length: Number(values.runs) }, () => start(values.routes))
report(
  'schemas and router',
  starts.map(({ schemas }) => schemas),
)
report(
  'start to the first response',
  starts.map(({ application }) => application),
)

function start(routes: string): Start {
  const script = join(import.meta.dirname, 'work/starting/many-routes.js')
  const env = { PATH: process.env['PATH'], NODE_ENV: 'production', ROUTES: routes }
  const { stdout, stderr } = spawnSync(process.execPath, ['--expose-gc', script], { encoding: 'utf8', env })
  if (stdout === '') throw new Error(`The application did not start:\n${stderr}`)
  return JSON.parse(stdout) as Start
}

function report(what: string, costs: readonly Cost[]): void {
  const median = (of: keyof Cost): string => spreadOf(costs.map((cost) => cost[of])).median.toFixed(0)
  console.log(
    `${what.padEnd(28)} CPU ${median('cpu')} ms  RSS ${median('rss')} MB  heap ${median('heap')} MB`,
  )
}
