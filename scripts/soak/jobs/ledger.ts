// Adds jobs in transactions of several processes, some of which are rolled back, while a worker is killed each second and
// the database breaks, then compares the orders that committed with the jobs that ran. Exits with 1 when it finds a fault.
// docs/reliability.md describes it. Run: npm run soak:jobs -- [--engine sqlite|postgres|mariadb] [--jobs 20000] [--calm]
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fromUrl } from '@mortar/database'
import { startEngine } from '../engines/start-engine.ts'
import { runLedger } from './run-ledger.ts'

/** Milliseconds between two faults of the database. */
const FAULT_EVERY = 6000

const { values } = parseArgs({
  options: {
    engine: { type: 'string', default: 'sqlite' },
    jobs: { type: 'string', default: '20000' },
    workers: { type: 'string', default: '3' },
    producers: { type: 'string', default: '2' },
    calm: { type: 'boolean', default: false },
  },
})
const begun = performance.now()
const log = (line: string): void =>
  console.log(`${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${line}`)
const directory = mkdtempSync(join(tmpdir(), 'mortar-ledger-'))
chmodSync(directory, 0o755)
const engine = await startEngine(values.engine, directory)
const faults = Object.entries(engine.faults)
let faultAt = performance.now() + FAULT_EVERY
let fault: Promise<void> | undefined

/** Breaks the database once in a while, beside the work. */
function disturb(): void {
  if (values.calm || fault !== undefined || performance.now() < faultAt) return
  const [name, run] = faults[Math.floor(Math.random() * faults.length)]!
  log(name)
  fault = run()
    .catch((error: unknown) => log(`the fault failed: ${String(error)}`))
    .finally(() => {
      fault = undefined
      faultAt = performance.now() + FAULT_EVERY
    })
}

try {
  const report = await runLedger({
    connection: fromUrl(engine.url),
    orders: Number(values.jobs),
    producers: Number(values.producers),
    workers: Number(values.workers),
    spares: 5,
    killEvery: 1000,
    limit: 600_000,
    disturb,
    repaired: async () => fault,
    log,
  })
  console.log(`\n${engine.title}\n`)
  console.table(report)
  const { lost, ghosts, left, moments, ticks } = report
  const isSound = lost + ghosts + left === 0 && moments === ticks
  console.log(isSound ? 'No fault found.' : 'FAULTS FOUND.')
  process.exitCode = isSound ? 0 : 1
} finally {
  await fault
  await engine.stop()
  rmSync(directory, { recursive: true, force: true })
}
