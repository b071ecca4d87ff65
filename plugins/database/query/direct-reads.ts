import type { DataSource, QueryFailedError } from 'typeorm'
import { typeorm } from '../drivers/typeorm.ts'
import {
  findChangedInsides,
  type PostgresPool,
  postgresPoolOf,
  type SqliteConnection,
  sqliteConnectionOf,
  type SqliteStatement,
} from '../compat/typeorm.ts'
import { gateOf } from '../gate/gate-transactions.ts'
import type { Statement } from './statement.ts'

/**
 * Reads directly on the driver of a DataSource, with a statement that is prepared once per connection. The caller must
 * not be in a transaction.
 * @returns undefined if the read needs a query runner: on other databases, while a query runner uses the SQLite
 * connection, and if subscribers or the log of slow queries observe the runner.
 * @throws QueryFailedError like a query runner.
 */
export function readDirectly<Row>(
  dataSource: DataSource,
  statement: Statement<Row>,
  values: unknown[],
): Row[] | Promise<Row[]> | undefined {
  const { subscribers, options } = dataSource
  if (subscribers.length > 0 || options.maxQueryExecutionTime) return undefined
  if (options.type === 'better-sqlite3') return readSqlite(dataSource, statement, values)
  const pool = postgresPoolOf(dataSource)
  return typeof pool?.query === 'function' ? readPostgres(dataSource, pool, statement, values) : undefined
}

/**
 * Reads without entering the gate. While the gate is free, no transaction is open, and better-sqlite3 reads
 * synchronously, so nothing can run in between.
 */
function readSqlite<Row>(
  dataSource: DataSource,
  { sql, ofArray }: Statement<Row>,
  values: unknown[],
): Row[] | undefined {
  const gate = gateOf(dataSource)
  if (gate === undefined || gate.current !== undefined) return undefined
  const statements = statementsOf(dataSource)
  if (statements === undefined) return undefined
  dataSource.logger.logQuery(sql, values)
  let rows: (readonly unknown[])[]
  try {
    let statement = statements.get(sql)
    if (statement === undefined) {
      statement = sqliteConnectionOf(dataSource.driver)!.prepare(sql).raw()
      statements.set(sql, statement)
    }
    rows = statement.all(...values.map(bindable))
  } catch (error) {
    // A query runner waits until the other process is done.
    if (String((error as { readonly code?: unknown }).code).startsWith('SQLITE_BUSY')) return undefined
    throw failed(dataSource, error as Error, sql, values)
  }
  return rows.map(ofArray)
}

/** Reads rows as arrays, which takes two thirds of the time of objects. */
type ArrayStatements = Map<string, SqliteStatement>

/** Statements by connection; undefined for a connection that fails the checks of `compat/typeorm.ts`. */
const prepared = new WeakMap<SqliteConnection, ArrayStatements | undefined>()

function statementsOf(dataSource: DataSource): ArrayStatements | undefined {
  const connection = sqliteConnectionOf(dataSource.driver)
  if (connection === undefined) return undefined
  if (!prepared.has(connection))
    prepared.set(connection, findChangedInsides(dataSource).length === 0 ? new Map() : undefined)
  return prepared.get(connection)
}

/** better-sqlite3 binds no booleans. */
function bindable(value: unknown): unknown {
  return typeof value === 'boolean' ? Number(value) : value
}

/** Pools that lose prepared statements, such as PgBouncer before 1.21 in transaction mode. */
const unprepared = new WeakSet<PostgresPool>()

/** Error codes: unknown statement, duplicate statement, and a statement whose column types a migration has changed. */
const STATEMENT_LOST: ReadonlySet<unknown> = new Set(['26000', '42P05', '0A000'])

async function readPostgres<Row>(
  dataSource: DataSource,
  pool: PostgresPool,
  { name, sql, ofRecord }: Statement<Row>,
  values: unknown[],
): Promise<Row[]> {
  dataSource.logger.logQuery(sql, values)
  const unnamed = { text: sql, values }
  let found: Awaited<ReturnType<PostgresPool['query']>>
  try {
    found = await (unprepared.has(pool)
      ? pool.query(unnamed)
      : pool.query({ ...unnamed, name }).catch((error: unknown) => retryUnprepared(pool, unnamed, error)))
  } catch (error) {
    throw failed(dataSource, error as Error, sql, values)
  }
  // Outside of `try`: the error of a transformer is not an error of the database.
  return found.rows.map(ofRecord)
}

/** Repeats a failed read once. Outside a transaction, a failed read has no effect. */
function retryUnprepared(
  pool: PostgresPool,
  statement: Parameters<PostgresPool['query']>[0],
  error: unknown,
): ReturnType<PostgresPool['query']> {
  if (!STATEMENT_LOST.has((error as { readonly code?: unknown }).code)) throw error
  if (!unprepared.has(pool)) process.emitWarning(UNPREPARED, { code: 'MORTAR_UNPREPARED' })
  unprepared.add(pool)
  return pool.query(statement)
}

const UNPREPARED =
  'PostgreSQL has lost a prepared statement. Causes are a pooler in transaction mode or a migration. ' +
  'query() no longer prepares statements in this process.'

function failed(dataSource: DataSource, error: Error, sql: string, values: unknown[]): QueryFailedError {
  dataSource.logger.logQueryError(error, sql, values)
  return new typeorm.QueryFailedError(sql, values, error)
}
