import type PgBoss from 'pg-boss'
import { boundedWork } from '../bounded-work.ts'
import { carriedRows } from '../database/carried.ts'
import { databaseEngine, inserting, scheduling } from '../database/engine.ts'
import { kindOf, statementsOf, type DataSourceLike } from '../database/statements.ts'
import {
  LEASE,
  SPREAD,
  type ClaimedJob,
  type EngineMaker,
  type EngineParts,
  type JobEngine,
  type NewJob,
} from '../engine.ts'
import { fault } from '../startup-codes.ts'
import { ignore, type Transaction } from 'mortar/kit'
import { administration } from './administration.ts'
import { createBoss, PEERS, pgBossSql, runSql, type RunSql } from './boss.ts'
import { mine, settling } from './settlement.ts'

/** Options of `pgBoss()`. */
export interface PgBossOptions {
  /** The schema of pg-boss, which only this application uses; `'pgboss'` by default. */
  readonly schema?: string
  /** Milliseconds after which another process takes over the job of a process that died; 30,000 by default. */
  readonly lease?: number
}

/** The data of a job in pg-boss. */
interface Carried {
  /** JSON as text: `jsonb` refuses U+0000. */
  readonly data: string
  readonly requestId?: string | undefined
  readonly trace?: string | undefined
  /** True if a row of the table of jobs keeps the key. */
  readonly isKeyed: boolean
}

/** Milliseconds for which an empty queue is not asked again: a little less than the pause of the worker. */
const PAUSE = 800
/** The runner counts attempts, and a job waits for years rather than being archived. */
const ALWAYS = { retryLimit: 1_000_000, retentionDays: 3650 } as const

/**
 * The engine for an application on PostgreSQL that wants the tables and tools of pg-boss. A job commits with the caller's
 * transaction. The table of jobs keeps the keys and the moments of schedules.
 */
export function pgBoss(options: PgBossOptions = {}): EngineMaker {
  return Object.assign((parts: EngineParts) => createEngine(options, parts), { peers: PEERS })
}

function createEngine(
  { schema = 'pgboss', lease = LEASE }: PgBossOptions,
  { db, names }: EngineParts,
): JobEngine {
  if (kindOf(db) !== 'postgres')
    throw fault('MORTAR_JOBS_OPTION', `pgBoss() cannot use a database of the type '${db.options.type}'.`, {
      remedy: 'Use PostgreSQL, or leave out the option engine.',
    })
  const statements = statementsOf(db, 'postgres')
  const { run } = statements
  const rows = carriedRows(statements)
  const sql = runSql(db)
  const table = `${schema}.job`
  const boss = createBoss(schema, sql)
  const queues = queuesOf(boss)
  const add = adding({ db, boss, queues, lease, keep: inserting(run, false) })
  const held = new WeakMap<ClaimedJob, boolean>()
  const claim = claimOf({ boss, sql, queues, hold: (claimed, isKeyed) => held.set(claimed, isKeyed) }, lease)
  return {
    async open() {
      await databaseEngine(db).open()
      await start(boss, queues, names()).catch((cause: unknown) => {
        throw fault('MORTAR_JOBS_ENGINE', `pg-boss cannot use the schema '${schema}'.`, { cause })
      })
    },
    add,
    claim,
    async renew({ name, id, attempt }) {
      const statement = `UPDATE ${table} SET started_on = now() WHERE ${mine()}`
      return (await sql(statement, [name, id, attempt - 1])).affected !== 0
    },
    settle: settling({ db, sql, table, rows, isKeyed: (claimed) => held.get(claimed) === true }),
    ...administration({ sql, table, boss, db, rows }),
    addScheduled: scheduling(db, run, add),
    close: () => boss.stop({ graceful: false }),
  }
}

async function start(boss: PgBoss, queues: Queues, names: readonly string[]): Promise<void> {
  await boss.start()
  for (const name of names) await queues(name)
}

type Queues = (name: string) => Promise<string>

/** Returns a function that makes the queue of a name once. */
function queuesOf(boss: PgBoss): Queues {
  const made = new Map<string, Promise<string>>()
  return (name) => {
    const found = made.get(name) ?? boss.createQueue(name).then(() => name)
    made.set(name, found)
    // It is tried again after a failure.
    found.catch(() => made.delete(name))
    return found
  }
}

interface Adding {
  readonly db: DataSourceLike
  readonly boss: PgBoss
  readonly queues: Queues
  readonly lease: number
  readonly keep: (job: NewJob, tx: Transaction, state: 'carried') => Promise<boolean>
}

function adding({ db, boss, queues, lease, keep }: Adding): JobEngine['add'] {
  const sql = runSql(db)
  return async function add(job, tx): Promise<boolean> {
    const { id, name, key, data, due, requestId, trace } = job
    await queues(name)
    if (key !== undefined && tx === undefined) return db.transaction((own) => add(job, own))
    if (key !== undefined && !(await keep(job, tx!, 'carried'))) return false
    const carried: Carried = { data, requestId, trace, isKeyed: key !== undefined }
    const sent = await boss.send(name, carried, {
      ...ALWAYS,
      id,
      startAfter: 'at' in due ? new Date(due.at) : due.after / 1000,
      // Leases end one by one, so that a job that ends its process each time does not take others with it.
      expireInSeconds: Math.ceil((lease + Math.random() * Math.min(SPREAD, lease)) / 1000),
      db: pgBossSql((text, values) => sql(text, values, tx)),
    })
    if (sent === null) throw new Error(`pg-boss has no queue for the job ${name}.`)
    return true
  }
}

interface Claiming {
  readonly boss: PgBoss
  readonly sql: RunSql
  readonly queues: Queues
  readonly hold: (claimed: ClaimedJob, isKeyed: boolean) => void
}

function claimOf({ boss, sql, queues, hold }: Claiming, lease: number): JobEngine['claim'] {
  const idleUntil = new Map<string, number>()
  let expireAt = 0
  // The lost host of a transaction may have locked the row of such a job. The next call repeats what has failed late.
  const expiry = boundedWork(() => boss.expire(), ignore)

  async function fetch(name: string, batchSize: number): Promise<readonly ClaimedJob[]> {
    let failure: Error | undefined
    // `fetch` hides every error.
    const own = pgBossSql((text, values) =>
      sql(text, values).catch((error: unknown) => {
        failure = error as Error
        throw error
      }),
    )
    const jobs = await boss.fetch<Carried>(await queues(name), { batchSize, includeMetadata: true, db: own })
    if (failure !== undefined) throw failure
    if (jobs.length < batchSize) idleUntil.set(name, performance.now() + PAUSE)
    return jobs.map(({ id, retryCount, data: { data, requestId, trace, isKeyed } }) => {
      const claimed = { id, name, data, attempt: retryCount + 1, requestId, trace }
      hold(claimed, isKeyed)
      return claimed
    })
  }

  return async (names, limit) => {
    if (performance.now() >= expireAt) {
      expireAt = performance.now() + lease / 3
      await expiry.run()
    }
    const found: ClaimedJob[] = []
    const first = Math.floor(Math.random() * names.length)
    for (const name of [...names.slice(first), ...names.slice(0, first)])
      if (found.length < limit && performance.now() >= (idleUntil.get(name) ?? 0))
        found.push(...(await fetch(name, limit - found.length)))
    return found
  }
}
