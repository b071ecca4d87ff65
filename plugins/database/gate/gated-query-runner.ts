import { setTimeout as wait } from 'node:timers/promises'
import type { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js'
import type { BetterSqlite3QueryRunner as QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js'
import {
  type SqliteConnection,
  sqliteConnectionOf,
  type Statements,
  shareStatements,
} from '../compat/typeorm.ts'
import type { Hold, TransactionGate } from './transaction-gate.ts'
import { inScope, isInsideTransaction, noteTransaction } from './transaction-scope.ts'
import { BetterSqlite3QueryRunner } from '../drivers/typeorm.ts'

type QueryArguments = Parameters<QueryRunner['query']>
type QueryAnswer = ReturnType<QueryRunner['query']>

/** Continues after a statement that another process blocks. */
type WhenBusy = (error: Error) => QueryAnswer

/** State that the query runners of one DataSource share. */
export interface GatedConnection {
  readonly driver: BetterSqlite3Driver
  readonly gate: TransactionGate
  readonly warn: (message: string) => void
  /** Milliseconds for which a statement is repeated while another process locks the database. */
  readonly busyTimeout: () => number
  statements(): Statements
}

/**
 * TypeORM's runner for better-sqlite3, one for each caller, behind the gate of their one connection. SQLite
 * (`inTransaction`) decides whether a transaction is over, because TypeORM's count is wrong after an error.
 */
export class GatedQueryRunner extends BetterSqlite3QueryRunner {
  readonly #shared: GatedConnection

  constructor(shared: GatedConnection) {
    super(shared.driver)
    this.#shared = shared
    shareStatements(this, shared.statements())
  }

  /** Rejects if the query would wait for a transaction that waits for this query, and for a list as one parameter. */
  override query(...given: QueryArguments): QueryAnswer {
    const { gate } = this.#shared
    const args = withDates(given)
    if (hasList(args[1])) return Promise.reject(new TypeError(LIST_PARAMETER))
    if (this.transactionDepth > 0 && !this.isReleased && !gate.isHeldBy(this))
      return Promise.reject(new Error(TRANSACTION_OVER))
    return this.#attempt(args, (error) => this.#repeat(args, error))
  }

  override async startTransaction(...args: Parameters<QueryRunner['startTransaction']>): Promise<void> {
    await super.startTransaction(...args)
    if (this.transactionDepth === 1) noteTransaction(this.#shared.gate)
  }

  /** Commits. A failed commit rolls the transaction back, as on a database server. */
  override async commitTransaction(): Promise<void> {
    try {
      await super.commitTransaction()
    } catch (error) {
      if (this.transactionDepth === 1) this.#abandon()
      throw error
    }
  }

  override async rollbackTransaction(): Promise<void> {
    const isOver = !this.#shared.gate.isHeldBy(this) || !this.#connection.inTransaction
    if (this.isTransactionActive && isOver) return this.#forgetTransaction()
    try {
      await super.rollbackTransaction()
    } catch (error) {
      if (this.transactionDepth === 1) this.#abandon()
      throw error
    }
  }

  /** Releases the runner. An open transaction is rolled back, with a warning. */
  override release(): Promise<void> {
    this.isReleased = true
    const { gate, warn } = this.#shared
    if (gate.isHeldBy(this)) {
      if (this.#connection.inTransaction) warn(LEFT_OPEN)
      this.#abandon()
    }
    return super.release()
  }

  /** Keeps the connection until `afterMigration`, because foreign keys are off for the whole connection. */
  override async beforeMigration(): Promise<void> {
    const hold = await this.#enter()
    hold.pinned = true
    try {
      await super.beforeMigration()
    } finally {
      this.#shared.gate.leave(hold)
    }
  }

  override async afterMigration(): Promise<void> {
    await super.afterMigration()
    this.#unpin()
  }

  #enter(): Hold | Promise<Hold> {
    const { gate } = this.#shared
    if (gate.current && !gate.isHeldBy(this) && isInsideTransaction(gate))
      return Promise.reject(new Error(OUTER_QUERY))
    return gate.enter(this)
  }

  #attempt(args: QueryArguments, whenBusy: WhenBusy): QueryAnswer {
    const entered = this.#enter()
    return entered instanceof Promise
      ? this.#runInTurn(entered, args, whenBusy)
      : this.#run(entered, args, whenBusy)
  }

  async #runInTurn(turn: Promise<Hold>, args: QueryArguments, whenBusy: WhenBusy): QueryAnswer {
    return this.#run(await turn, args, whenBusy)
  }

  /** Runs a statement. It is not an async function, which would slow each query by a few per cent (`bench/gate.ts`). */
  #run(hold: Hold, [sql, parameters, structured]: QueryArguments, whenBusy: WhenBusy): QueryAnswer {
    const { gate } = this.#shared
    const statement = this.#immediate(sql)
    const answer =
      this.dataSource.subscribers.length === 0
        ? super.query(statement, parameters, structured)
        : // Subscribers to query events run while this statement has the connection.
          inScope(gate, () => super.query(statement, parameters, structured), hold)
    return answer.then(
      (result: unknown) => {
        gate.leave(hold)
        return result
      },
      (error: unknown) => {
        gate.leave(hold)
        if (!isBusy(error)) throw error
        return whenBusy(error)
      },
    )
  }

  /**
   * Repeats a statement that another process blocks. SQLite's own wait would stop the whole process. Meanwhile others
   * use the connection, unless this runner has a transaction, which stays open.
   */
  async #repeat(args: QueryArguments, first: Error): QueryAnswer {
    const end = performance.now() + this.#shared.busyTimeout()
    let error: Error | undefined = first
    for (let pause = FIRST_PAUSE; error !== undefined; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      if (this.#isStale(error) || performance.now() + pause > end) throw error
      await wait(pause)
      if (this.isReleased) throw error
      error = undefined
      const answer = await this.#attempt(args, (again) => void (error = again) as never)
      if (error === undefined) return answer
    }
  }

  /** A transaction that has read before another process wrote can never write; only a new one can. */
  #isStale(error: unknown): boolean {
    return codeOf(error) === 'SQLITE_BUSY_SNAPSHOT' && this.#connection.inTransaction
  }

  get #connection(): SqliteConnection {
    return sqliteConnectionOf(this.#shared.driver)!
  }

  /**
   * Acquires the write lock first, so that a transaction that reads and then writes cannot fail because another process
   * has written.
   */
  #immediate(sql: string): string {
    return sql === 'BEGIN TRANSACTION' && !this.driver.options.readonly ? 'BEGIN IMMEDIATE TRANSACTION' : sql
  }

  /**
   * Rolls back directly on the connection and immediately, so that no error and no subscriber can block the connection.
   */
  #abandon(): void {
    if (!this.#shared.gate.isHeldBy(this)) return
    if (this.#connection.inTransaction) this.#connection.exec('ROLLBACK')
    if (this.#shared.gate.current?.pinned) this.#connection.exec('PRAGMA foreign_keys = ON')
    this.#unpin()
  }

  #unpin(): void {
    const hold = this.#shared.gate.current
    if (hold?.owner !== this) return
    hold.pinned = false
    this.#shared.gate.settle(hold)
  }

  /** Corrects TypeORM's count after a transaction that never began or that SQLite has already rolled back. */
  #forgetTransaction(): void {
    this.transactionDepth = Math.max(0, this.transactionDepth - 1)
    this.isTransactionActive = this.transactionDepth > 0
  }
}

/** Milliseconds between two attempts while another process locks the database. */
const FIRST_PAUSE = 5
const LONGEST_PAUSE = 50

function isBusy(error: unknown): error is Error {
  return codeOf(error).startsWith('SQLITE_BUSY')
}

const codeOf = (error: unknown): string => String((error as { readonly code?: unknown } | undefined)?.code)

const OUTER_QUERY =
  'A query on the DataSource inside a transaction would wait for that transaction forever. ' +
  'Use the manager of the transaction: `dataSource.transaction(async (manager) => { … })`, ' +
  'or in a subscriber `event.manager`.'

const TRANSACTION_OVER =
  'This transaction is over: SQLite has rolled it back after an error, or a statement has ended it. ' +
  'It accepts no further statements.'

const LEFT_OPEN =
  'A query runner was released while its transaction was open; the transaction was rolled back. ' +
  'Commit or roll back before release(), or use dataSource.transaction().'

const LIST_PARAMETER =
  'A parameter of a statement is a list. Give one value, or write In([…]), which makes a placeholder for each item.'

/**
 * better-sqlite3 spreads a list over several placeholders, so that unchecked input could move the values of other
 * conditions (CWE-89).
 */
function hasList(parameters: unknown): boolean {
  return Array.isArray(parameters) && parameters.some((value) => Array.isArray(value))
}

/** Writes a Date as TypeORM stores it in a column. better-sqlite3 binds none. */
function withDates(args: QueryArguments): QueryArguments {
  const [sql, parameters, structured] = args
  if (!Array.isArray(parameters) || !parameters.some((value) => value instanceof Date)) return args
  const text = (value: unknown): unknown =>
    value instanceof Date ? value.toISOString().replace('T', ' ').slice(0, -1) : value
  return [sql, parameters.map(text), structured]
}
