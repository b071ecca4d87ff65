// Adds jobs in transactions of several processes, some of which are rolled back, while a worker is killed each second and
// the database breaks, then compares the orders that committed with the jobs that ran. Exits with 1 when it finds a fault.
// docs/reliability.md describes it.
// Run: npm run soak:jobs -- [--engine sqlite|postgres|mariadb|bullmq|pg-boss] [--jobs 20000] [--faults 6000] [--calm]
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fromUrl } from '@mortar/database'
import type { Engine } from '../engines/engine.ts'
import { startRedis } from '../engines/redis.ts'
import { startEngine } from '../engines/start-engine.ts'
import type { EngineChoice } from './choose-engine.ts'
import { runLedger } from './run-ledger.ts'

const { values } = parseArgs({
  options: {
    engine: { type: 'string', default: 'sqlite' },
    jobs: { type: 'string', default: '20000' },
    workers: { type: 'string', default: '3' },
    producers: { type: 'string', default: '2' },
    // Milliseconds between two faults.
    faults: { type: 'string', default: '6000' },
    calm: { type: 'boolean', default: false },
  },
})
const begun = performance.now()
const log = (line: string): void =>
  console.log(`${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${line}`)
const directory = mkdtempSync(join(tmpdir(), 'mortar-ledger-'))
chmodSync(directory, 0o755)
const { servers, choice } = await startAll(values.engine)
const [database] = servers
const faults = servers.flatMap((server) => Object.entries(server.faults))
const faultEvery = Number(values.faults)
let faultAt = performance.now() + faultEvery
let fault: Promise<void> | undefined
let longest = 0

/** The servers of an engine, the database first. */
async function startAll(
  name: string,
): Promise<{ readonly servers: readonly [Engine, ...Engine[]]; readonly choice: EngineChoice }> {
  if (name === 'pg-boss')
    return { servers: [await startEngine('postgres', directory)], choice: { kind: 'pg-boss' } }
  if (name !== 'bullmq')
    return { servers: [await startEngine(name, directory)], choice: { kind: 'database' } }
  const redis = await startRedis(directory)
  return {
    servers: [await startEngine('postgres', directory), redis],
    choice: { kind: 'bullmq', url: redis.url },
  }
}

/** Breaks the database once in a while, beside the work. */
function disturb(): void {
  if (values.calm || fault !== undefined || performance.now() < faultAt) return
  const [name, run] = faults[Math.floor(Math.random() * faults.length)]!
  log(name)
  const from = performance.now()
  fault = run()
    .catch((error: unknown) => log(`the fault failed: ${String(error)}`))
    .finally(() => {
      fault = undefined
      longest = Math.max(longest, performance.now() - from)
      faultAt = performance.now() + faultEvery
    })
}

try {
  const report = await runLedger({
    connection: fromUrl(database.url),
    engine: choice,
    orders: Number(values.jobs),
    producers: Number(values.producers),
    workers: Number(values.workers),
    spares: 5,
    killEvery: 1000,
    limit: 1_800_000,
    disturb,
    repaired: async () => fault,
    log,
  })
  console.log(`\n${servers.map(({ title }) => title).join('; ')}\n`)
  console.table(report)
  const { lost, ghosts, left, overlaps, moments, ticks } = report
  // A restart can last for so long on a busy machine that moments are more than a minute old afterwards: one job for all.
  const isLong = longest > 30_000
  if (isLong) log(`the longest fault lasted ${(longest / 1000).toFixed(1)} s`)
  const isSound = lost + ghosts + left + overlaps === 0 && (moments === ticks || (isLong && ticks < moments))
  console.log(isSound ? 'No fault found.' : 'FAULTS FOUND.')
  process.exitCode = isSound ? 0 : 1
} finally {
  await fault
  await Promise.all(servers.map((server) => server.stop()))
  rmSync(directory, { recursive: true, force: true })
  // Node keeps the handle of a socket that was reset while its end was on the way.
  process.exit()
}
