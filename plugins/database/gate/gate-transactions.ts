import type { DataSource } from 'typeorm'
import type { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js'
import type { Duration } from 'mortar'
import { seconds } from 'mortar/kit'
import { checkRunner, type CountingRunner, withoutSubscribers } from '../compat/query-runner.ts'
import { replaceRunners, sqliteConnectionOf, type Statements, wrapTransactions } from '../compat/typeorm.ts'
import { readExactly } from '../columns/exact-numbers.ts'
import { GatedQueryRunner } from './gated-query-runner.ts'
import { type Schedule, TransactionGate } from './transaction-gate.ts'
import { inScope } from './transaction-scope.ts'
import { BetterSqlite3QueryRunner } from '../drivers/typeorm.ts'

/** Settings of a gate, mostly about transactions that do not end. */
export interface GateSettings {
  /** By default a warning of the process (`process.emitWarning`). The brick sets its logger here. */
  readonly warn?: (message: string) => void
  /**
   * Longest time for which one transaction may block others before a warning; seconds or `'10s'`, by default 10 s.
   * After three times as long, the waiting queries fail.
   */
  readonly warnAfter?: Duration
  /**
   * Rejects a query that would wait for its own transaction immediately, instead of after a time-out. On Node before 24
   * this slows every promise of the process, so the brick switches it off there in production.
   */
  readonly findSelfWaits?: boolean
  /**
   * Longest wait of a statement while another process locks the database, without blocking this process; seconds or
   * `'5s'`, by default 5 s.
   */
  readonly busyTimeout?: Duration
  /** Replaces the timer in tests. */
  readonly schedule?: Schedule
}

/** Settings that can change on an existing gate. */
interface Adjustable {
  warn: (message: string) => void
  /** Milliseconds. */
  warnAfter: number
  findSelfWaits: boolean
  /** Milliseconds. */
  busyTimeout: number
}

/** Gates by DataSource. */
const gates = new WeakMap<DataSource, Gated>()

interface Gated {
  readonly adjustable: Adjustable
  readonly gate: TransactionGate
}

/**
 * Makes transactions on a better-sqlite3 DataSource safe beside concurrent queries. TypeORM gives all callers one query
 * runner on that driver, so that overlapping transactions would nest and a rollback would undo acknowledged writes of
 * other callers. Does nothing on other databases. A repeated call only changes the settings.
 */
export function gateTransactions(dataSource: DataSource, settings: GateSettings = {}): void {
  if (dataSource.options.type !== 'better-sqlite3') return
  const present = gates.get(dataSource)
  const adjustable = present?.adjustable ?? { ...DEFAULTS }
  if (settings.warn) adjustable.warn = settings.warn
  if (settings.warnAfter !== undefined) adjustable.warnAfter = seconds(settings.warnAfter) * 1000
  if (settings.findSelfWaits !== undefined) adjustable.findSelfWaits = settings.findSelfWaits
  if (settings.busyTimeout !== undefined) adjustable.busyTimeout = seconds(settings.busyTimeout) * 1000
  if (present) return
  gates.set(dataSource, { adjustable, gate: install(dataSource, adjustable, settings.schedule) })
}

const DEFAULTS: Adjustable = {
  warn: warnProcess,
  warnAfter: 10_000,
  findSelfWaits: true,
  busyTimeout: 5000,
}

/** Returns the gate of a DataSource, or undefined if it has none. */
export function gateOf(dataSource: DataSource): TransactionGate | undefined {
  return gates.get(dataSource)?.gate
}

/**
 * Checks that the gate sees the transactions of the installed version of TypeORM. Does nothing on other databases.
 * @throws StartupError `MORTAR_DATABASE_GATE`.
 */
export async function checkGate({ driver, options }: DataSource): Promise<void> {
  if (options.type !== 'better-sqlite3') return
  const runner = new BetterSqlite3QueryRunner(withoutSubscribers(driver as BetterSqlite3Driver))
  await checkRunner(runner as unknown as CountingRunner)
}

function install(
  dataSource: DataSource,
  adjustable: Adjustable,
  schedule: Schedule | undefined,
): TransactionGate {
  const driver = dataSource.driver as BetterSqlite3Driver
  const warn = (message: string) => adjustable.warn(message)
  const gate = new TransactionGate({
    inTransaction: () => sqliteConnectionOf(driver)?.inTransaction ?? false,
    warn,
    warnAfter: () => adjustable.warnAfter,
    ...(schedule && { schedule }),
  })
  const busyTimeout = () => adjustable.busyTimeout
  const shared = { driver, gate, warn, busyTimeout, statements: statementCache(driver) }
  replaceRunners(dataSource, {
    createQueryRunner: () => new GatedQueryRunner(shared),
    afterConnect: async () => {
      waitInGate(driver)
      readExactly(sqliteConnectionOf(driver)!)
      await checkGate(dataSource)
    },
    afterDisconnect: () => gate.reset(),
  })
  wrapTransactions(dataSource.manager, (work) => (adjustable.findSelfWaits ? inScope(gate, work) : work()))
  return gate
}

/** Switches off SQLite's own wait, which would stop the whole process. The gate repeats the statement instead. */
function waitInGate(driver: BetterSqlite3Driver): void {
  if (driver.options.timeout === undefined) sqliteConnectionOf(driver)?.exec('PRAGMA busy_timeout = 0')
}

/** One cache for all runners, as long as the connection lives for which the statements were prepared. */
function statementCache(driver: BetterSqlite3Driver): () => Statements {
  let statements: Statements = new Map()
  let preparedFor: unknown
  return () => {
    const connection = sqliteConnectionOf(driver)
    if (preparedFor !== connection) statements = new Map()
    preparedFor = connection
    return statements
  }
}

function warnProcess(message: string): void {
  process.emitWarning(message, { code: 'MORTAR_TRANSACTION' })
}
