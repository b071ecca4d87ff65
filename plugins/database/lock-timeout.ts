import { setTimeout as wait } from 'node:timers/promises'
import type { DataSource, QueryRunner } from 'typeorm'
import { kindOf } from 'mortar/kit'
import { inTransaction } from './in-transaction.ts'
import { restoreAfter } from './restore-after.ts'
import { isDdl, withoutComments } from './sql-text.ts'

/** Attempts for one lock. With a pause as long as each wait, the default of 5 s makes a minute. */
export const ATTEMPTS = 6

/** A lock that another connection did not release in time, or a deadlock with it. SQLite adds a suffix. */
const BLOCKED = /^(55P03|40P01|ER_LOCK_WAIT_TIMEOUT|SQLITE_BUSY\w*)$/

/** The connection of a run, and its limit. */
export interface LimitedRun {
  readonly dataSource: DataSource
  readonly runner: QueryRunner
  /** Milliseconds; 0 waits without a limit. */
  readonly lockTimeout: number
}

/** True for an error of a statement that did not get its lock. */
export function isBlocked(error: unknown): boolean {
  return BLOCKED.test(String((error as { readonly code?: unknown } | undefined)?.code))
}

/** True if changes of tables end the transaction, so that they cannot be rolled back. */
export function keepsTables(dataSource: DataSource): boolean {
  return kindOf(dataSource) === 'mysql'
}

/**
 * Sets the limit for the session on MariaDB and MySQL, during work. On PostgreSQL each transaction gets it, because a
 * setting of the session would stay in a pooler. On SQLite the option `busyTimeout` is the limit.
 */
export async function limitLocksOfSession<T>(
  { dataSource, runner, lockTimeout }: LimitedRun,
  work: () => Promise<T>,
): Promise<T> {
  if (!keepsTables(dataSource) || lockTimeout === 0) return work()
  const set = (tables: number, rows: number): Promise<unknown> =>
    runner.query(`SET SESSION lock_wait_timeout = ${tables}, innodb_lock_wait_timeout = ${rows}`)
  const [before] = (await runner.query(
    'SELECT @@lock_wait_timeout AS ofTables, @@innodb_lock_wait_timeout AS ofRows',
  )) as [{ readonly ofTables: number; readonly ofRows: number }]
  const limit = Math.ceil(lockTimeout / 1000)
  await set(limit, limit)
  return restoreAfter(work, () => set(before.ofTables, before.ofRows))
}

/** Runs a migration in one transaction. Repeats it if it did not get a lock and was rolled back. */
export function runAtomically<T>(run: LimitedRun, work: () => Promise<T>): Promise<T> {
  return repeatBlocked(run, () => limitedTransaction(run, work))
}

/**
 * Runs a migration that a failure does not roll back. Repeats each statement that did not get its lock.
 * @param applied receives the statements that have taken effect.
 */
export async function runStepwise<T>(run: LimitedRun, applied: string[], work: () => Promise<T>): Promise<T> {
  const { dataSource, runner } = run
  const query = runner.query.bind(runner)
  const note = createJournal(applied, keepsTables(dataSource))
  const limited = async (...args: Parameters<QueryRunner['query']>): Promise<unknown> => {
    const attempt = (): Promise<unknown> =>
      needsTransaction(run, args[0]) ? limitedTransaction(run, () => query(...args)) : query(...args)
    // PostgreSQL has ended the transaction of a statement that failed.
    const isOver = runner.isTransactionActive && dataSource.options.type === 'postgres'
    const result = await (isOver ? attempt() : repeatBlocked(run, attempt))
    note(args[0])
    return result
  }
  runner.query = limited as QueryRunner['query']
  try {
    return await work()
  } finally {
    // A lost connection has replaced it as well.
    if (runner.query === limited) delete (runner as Partial<QueryRunner>).query
  }
}

/** The pause lets the statements through that wait behind the lock. */
async function repeatBlocked<T>({ lockTimeout }: LimitedRun, attempt: () => Promise<T>): Promise<T> {
  for (let left = ATTEMPTS - 1; ; left--)
    try {
      return await attempt()
    } catch (error) {
      if (left === 0 || !isBlocked(error)) throw error
      await wait(lockTimeout)
    }
}

function limitedTransaction<T>({ dataSource, runner, lockTimeout }: LimitedRun, work: () => Promise<T>) {
  return inTransaction(runner, async () => {
    if (dataSource.options.type === 'postgres') await runner.query(`SET LOCAL lock_timeout = ${lockTimeout}`)
    return work()
  })
}

/** PostgreSQL: `CONCURRENTLY` runs outside of transactions. It may wait for long, because nobody waits behind it. */
function needsTransaction({ dataSource, runner }: LimitedRun, sql: string): boolean {
  if (dataSource.options.type !== 'postgres' || runner.isTransactionActive || !isDdl(sql)) return false
  return !/\bCONCURRENTLY\b|^\w+ (DATABASE|TABLESPACE|SYSTEM)\b/i.test(withoutComments(sql))
}

const CHANGES = /^(ALTER|CREATE|DROP|RENAME|TRUNCATE|COMMENT|REINDEX|UPDATE|INSERT|DELETE|REPLACE)\b/i

/** Notes the statements that a rollback does not undo. */
function createJournal(applied: string[], commitsTables: boolean): (sql: string) => void {
  let kept = 0
  return (sql) => {
    const text = withoutComments(sql)
    if (/^ROLLBACK(?! TO)/i.test(text)) applied.length = kept
    if (CHANGES.test(text)) applied.push(text)
    if (/^(START|BEGIN|COMMIT)\b/i.test(text) || (commitsTables && isDdl(text))) kept = applied.length
  }
}
