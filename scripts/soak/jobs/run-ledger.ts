import { fork, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { createDataSource, type ConnectionOptions } from '@mortar/database'
import { IsNull, Not, type DataSource } from 'typeorm'
import type { Share } from './member.ts'
import { MortarJobs } from '@mortar/jobs/schema'
import { Orders, Runs, TABLES } from './tables.ts'

/** Plan of one run. Times are milliseconds. */
export interface LedgerPlan {
  readonly connection: ConnectionOptions
  /** Orders that are tried; a quarter of them is rolled back. */
  readonly orders: number
  /** Processes that make orders, and work on jobs too. */
  readonly producers: number
  /** Further processes, which are killed. */
  readonly workers: number
  /** False to replace no killed worker. */
  readonly replaces?: boolean
  /** Time between two kills of a worker. */
  readonly killEvery: number
  /** The time after which the end is not waited for any longer. */
  readonly limit: number
  /**
   * True to let the leases of killed workers end when every order is made, in place of waiting for them. Workers that
   * live lose their leases too, so more jobs run twice.
   */
  readonly endsLeases?: boolean
  /** Called with each kill. */
  readonly disturb?: () => void
  readonly log?: (line: string) => void
}

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
}

const MEMBER = new URL('./member.ts', import.meta.url)

/**
 * Makes orders in several processes, each with a job in its transaction, while workers are killed, and compares at the end
 * the orders that committed with the jobs that ran. The tables must be empty.
 */
export async function runLedger(plan: LedgerPlan): Promise<LedgerReport> {
  const { log = () => undefined } = plan
  const db = await createDataSource({ ...plan.connection, entities: TABLES }).initialize()
  const crew = new Crew(plan)
  try {
    await db.synchronize()
    const firstMoment = await addSchedule(db)
    await crew.start()
    const begun = performance.now()
    const failed = await crew.produce(plan)
    log(`every order is made after ${seconds(begun)} s, ${crew.kills} workers were killed`)
    await ended(db, plan)
    log(`no order waits after ${seconds(begun)} s`)
    await crew.stop()
    return { ...(await compare(db, firstMoment)), kills: crew.kills, failed }
  } finally {
    await crew.stop()
    await db.destroy()
  }
}

const seconds = (begun: number): string => ((performance.now() - begun) / 1000).toFixed(1)

/** The processes of a run. A spare one, which has loaded its modules, replaces a killed worker. */
class Crew {
  kills = 0
  readonly #plan: LedgerPlan
  readonly #workers: ChildProcess[] = []
  readonly #spares: ChildProcess[] = []
  #makers: readonly ChildProcess[] = []
  readonly #all = new Set<ChildProcess>()

  constructor(plan: LedgerPlan) {
    this.#plan = plan
  }

  async start(): Promise<void> {
    const { workers, producers, replaces = true } = this.#plan
    const warm = (count: number): Promise<ChildProcess[]> =>
      Promise.all(Array.from({ length: count }, () => this.#warm()))
    const [makers, others, spares] = await Promise.all([
      warm(producers),
      warm(workers),
      warm(replaces ? 1 : 0),
    ])
    this.#makers = makers
    this.#spares.push(...spares)
    this.#workers.push(...others)
    await Promise.all([...makers, ...others].map((each) => begin(each)))
  }

  /** Makes every order. @returns the number of failed transactions. */
  async produce({ orders, producers, killEvery, disturb }: LedgerPlan): Promise<number> {
    const count = Math.ceil(orders / producers)
    let failed = 0
    const done = Promise.all(
      this.#makers.map((maker, index) => {
        maker.on('message', (message) => (failed += message === 'failed' ? 1 : 0))
        return made(maker, { first: index * count + 1, count })
      }),
    )
    const disturbance = setInterval(() => {
      this.#kill()
      disturb?.()
    }, killEvery)
    await done.finally(() => clearInterval(disturbance))
    return failed
  }

  async stop(): Promise<void> {
    await Promise.all(
      [...this.#all].map((child) => {
        const exited = once(child, 'exit')
        child.kill('SIGKILL')
        return exited
      }),
    )
  }

  /** Does nothing while no spare worker is ready. */
  #kill(): void {
    const { replaces = true } = this.#plan
    if (replaces && this.#spares.length === 0) return
    if (this.#workers.shift()?.kill('SIGKILL')) this.kills++
    const spare = this.#spares.pop()
    if (spare === undefined) return
    this.#workers.push(spare)
    // It ends if the database is away, and its turn to be killed replaces it.
    begin(spare).catch(() => undefined)
    this.#warm().then(
      (next) => this.#spares.push(next),
      () => undefined,
    )
  }

  async #warm(): Promise<ChildProcess> {
    const child = fork(MEMBER, [JSON.stringify(this.#plan.connection)], {
      execArgv: ['--import', 'tsx', '--conditions=source'],
    })
    this.#all.add(child)
    child.once('exit', () => this.#all.delete(child))
    await once(child, 'message')
    return child
  }
}

/** Starts the application of a process. */
function begin(child: ChildProcess): Promise<void> {
  child.send('begin')
  return told(child, 'begun')
}

/** Lets a producer make its orders. */
function made(child: ChildProcess, share: Share): Promise<void> {
  child.send(share)
  return told(child, 'made')
}

function told(child: ChildProcess, expected: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.on('message', (message) => {
      if (message === expected) resolve()
    })
    child.once('exit', () =>
      reject(new Error(`A process of the ledger has ended before it has '${expected}'.`)),
    )
  })
}

/** Waits until no job of an order is left. */
async function ended(db: DataSource, { limit, endsLeases }: LedgerPlan): Promise<void> {
  const end = performance.now() + limit
  if (endsLeases === true) await db.getRepository(MortarJobs).update({ worker: Not(IsNull()) }, { run_at: 0 })
  while (performance.now() < end) {
    if ((await db.getRepository(MortarJobs).countBy({ name: 'order' })) === 0) return
    await wait(50)
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

async function compare(db: DataSource, firstMoment: number): Promise<Omit<LedgerReport, 'kills' | 'failed'>> {
  const orders = new Set((await db.getRepository(Orders).find()).map(({ id }) => String(id)))
  const runs = await db.getRepository(Runs).find()
  const subjects = (kind: string): string[] =>
    runs.filter((run) => run.kind === kind).map((run) => run.subject)
  const jobs = await db.getRepository(MortarJobs).find()
  const waitingTicks = jobs.filter(({ name, state }) => name === 'tick' && state !== 'schedule')
  const [schedule] = jobs.filter(({ state }) => state === 'schedule')
  const ran = subjects('order')
  return {
    committed: orders.size,
    runs: ran.length,
    lost: without(orders, new Set(ran)),
    ghosts: without(new Set(ran), orders),
    left: jobs.filter(({ name }) => name === 'order').length,
    moments: (Number(schedule!.run_at) - firstMoment) / 1000,
    ticks: new Set([...subjects('tick'), ...waitingTicks.map(({ id }) => id)]).size,
  }
}

function without(all: ReadonlySet<string>, those: ReadonlySet<string>): number {
  return [...all].filter((each) => !those.has(each)).length
}
