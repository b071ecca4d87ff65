import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { createDataSource } from '@mortar/database'
import { In, IsNull, Not, type DataSource } from 'typeorm'
import type { EngineParts, JobEngine } from '@mortar/jobs'
import { MortarJobs } from '@mortar/jobs/schema'
import { chooseEngine } from './choose-engine.ts'
import { Crew } from './crew.ts'
import { Overlaps, watchLeases } from './overlaps.ts'
import type { LedgerPlan } from './plan.ts'
import { Orders, Runs, TABLES } from './tables.ts'

/** Result of a run. */
export interface LedgerReport {
  readonly committed: number
  /** Attempts of jobs of orders that reached their end. */
  readonly runs: number
  readonly kills: number
  /** Transactions that failed, such as those of a database that is away. */
  readonly failed: number
  /** Moments of the schedule that have come, and jobs that were added for them. */
  readonly moments: number
  readonly ticks: number
  /** Committed orders whose job never ran. */
  readonly lost: number
  /** Jobs that ran without a committed order. */
  readonly ghosts: number
  /** Rows of jobs that are left. */
  readonly left: number
  /** Claims of a job whose earlier lease had not ended. */
  readonly overlaps: number
}

/**
 * Makes orders in several processes, each with a job in its transaction, while workers are killed, and compares at the end
 * the orders that committed with the jobs that ran. The tables must be empty.
 */
export async function runLedger(plan: LedgerPlan): Promise<LedgerReport> {
  const { log = () => undefined } = plan
  const crew = new Crew(plan)
  try {
    const firstMoment = await connected(plan, async (db) => {
      await db.synchronize()
      await watchLeases(db)
      return addSchedule(db)
    })
    await crew.start()
    const begun = performance.now()
    const failed = await crew.produce(plan)
    log(`every order is made after ${seconds(begun)} s, ${crew.kills} workers were killed`)
    await plan.repaired?.()
    return await connected(plan, async (db) => {
      const engine = openEngine(db, plan)
      await engine.open()
      await ended(db, engine, plan)
      log(`no order waits after ${seconds(begun)} s`)
      await crew.stop()
      const compared = await compare(db, engine, firstMoment)
      await engine.close?.()
      return { ...compared, kills: crew.kills, failed }
    })
  } finally {
    await crew.stop()
  }
}

async function connected<T>({ connection }: LedgerPlan, work: (db: DataSource) => Promise<T>): Promise<T> {
  const db = await createDataSource({ ...connection, entities: TABLES }).initialize()
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}

/** The jobs that are left, wherever they are. */
type Left = Pick<JobEngine, 'open' | 'close'> & {
  list(filter: { readonly name: string; readonly limit: number }): Promise<readonly { readonly id: string }[]>
}

function openEngine(db: DataSource, { engine, lease }: LedgerPlan): Left {
  const own = db as unknown as EngineParts['db']
  return chooseEngine(engine, lease)?.({ db: own, names: () => ['order', 'tick'] }) ?? leftInTable(db)
}

function leftInTable(db: DataSource): Left {
  return {
    open: () => Promise.resolve(),
    list: ({ name, limit }) =>
      db.getRepository(MortarJobs).find({ where: { name, state: In(['waiting', 'failed']) }, take: limit }),
  }
}

const seconds = (begun: number): string => ((performance.now() - begun) / 1000).toFixed(1)

/** Waits until no job of an order is left. */
async function ended(db: DataSource, engine: Left, { limit, endsLeases }: LedgerPlan): Promise<void> {
  const end = performance.now() + limit
  if (endsLeases === true) await db.getRepository(MortarJobs).update({ worker: Not(IsNull()) }, { run_at: 0 })
  while (performance.now() < end) {
    const rows = await db.getRepository(MortarJobs).countBy({ name: 'order', state: 'carried' })
    if (rows + (await engine.list({ name: 'order', limit: 1 })).length === 0) return
    await wait(100)
  }
}

/** The schedule's row, which a worker would make: so its first moment is known. */
async function addSchedule(db: DataSource): Promise<number> {
  const first = Math.ceil(Date.now() / 1000) * 1000
  const row = {
    id: randomUUID(),
    name: 'tick',
    job_key: 'every',
    data: '* * * * * *|UTC',
    state: 'schedule',
  } as const
  await db.getRepository(MortarJobs).insert({ ...row, run_at: first, attempt: 0, added_at: first })
  return first
}

async function compare(
  db: DataSource,
  engine: Left,
  firstMoment: number,
): Promise<Omit<LedgerReport, 'kills' | 'failed'>> {
  const orders = new Set((await db.getRepository(Orders).find()).map(({ id }) => String(id)))
  const runs = await db.getRepository(Runs).find()
  const subjects = (kind: string): string[] =>
    runs.filter((run) => run.kind === kind).map((run) => run.subject)
  // A job that BullMQ has lost is a row only, until it goes there again.
  const rows = await db.getRepository(MortarJobs).findBy({ name: 'tick', state: Not('schedule') })
  const waiting = [...rows, ...(await engine.list({ name: 'tick', limit: MANY }))].map(({ id }) => id)
  const schedule = await db.getRepository(MortarJobs).findOneByOrFail({ state: 'schedule' })
  const ran = subjects('order')
  return {
    committed: orders.size,
    runs: ran.length,
    lost: without(orders, new Set(ran)),
    ghosts: without(new Set(ran), orders),
    left: (await engine.list({ name: 'order', limit: MANY })).length,
    overlaps: await db.getRepository(Overlaps).count(),
    moments: (schedule.run_at - firstMoment) / 1000,
    ticks: new Set([...subjects('tick'), ...waiting]).size,
  }
}

const MANY = 10_000

function without(all: ReadonlySet<string>, those: ReadonlySet<string>): number {
  return [...all].filter((each) => !those.has(each)).length
}
