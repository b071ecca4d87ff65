import { retryRolledBack } from './database-fault.ts'
import { runnerOf, type Runner, type Transaction } from './open-transactions.ts'
import type { StatementResult } from './statement-result.ts'

/** The used part of a TypeORM DataSource: the service `db`. */
export interface DataSourceLike {
  readonly options: { readonly type: string; readonly schema?: string; readonly entityPrefix?: string }
  readonly driver: { escape(name: string): string }
  readonly manager: unknown
  readonly isInitialized: boolean
  createQueryRunner(mode: 'master'): Runner
  transaction<T>(work: (manager: Transaction) => Promise<T>): Promise<T>
  initialize(): Promise<unknown>
  destroy(): Promise<void>
}

/** The kinds of database whose statements differ. */
export type DatabaseKind = 'postgres' | 'mysql' | 'sqlite'

const KINDS: Readonly<Record<string, DatabaseKind>> = {
  postgres: 'postgres',
  mysql: 'mysql',
  mariadb: 'mysql',
  'better-sqlite3': 'sqlite',
}

/** Returns the kind of a database; undefined for every other one. */
export function kindOf({ options: { type } }: DataSourceLike): DatabaseKind | undefined {
  return Object.hasOwn(KINDS, type) ? KINDS[type] : undefined
}

/** Milliseconds since the epoch, fixed during a statement, so that an index on times can be used. */
const NOW: Readonly<Record<DatabaseKind, string>> = {
  postgres: 'cast(floor(extract(epoch from statement_timestamp()) * 1000) as bigint)',
  mysql: "(timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(3)) div 1000)",
  sqlite: "cast(round((julianday('now') - 2440587.5) * 86400000) as integer)",
}

/** Settings of `tableStatements`. */
export interface TableStatementOptions {
  readonly kind: DatabaseKind
  /** Names of tables by the word that statements have for them: `{ jobs: 'mortar_jobs' }` for `{jobs}`. */
  readonly tables: Readonly<Record<string, string>>
  /** The call of the application that receives transactions, for messages: `jobs.add`. */
  readonly of: string
  /** Replaces the clock of the database in tests. */
  readonly fixedTime?: (() => number) | undefined
}

/** Builds the text of a statement: `{now}` is the current time, `?` a parameter, and a table has its name. */
export type BuildStatement = (sql: string) => string

/** Runs statements in the form of `BuildStatement`. One that is alone is repeated if the database has rolled it back. */
export type RunStatement = (
  sql: string,
  values?: readonly unknown[],
  tx?: Transaction,
) => Promise<StatementResult>

/** Writes statements that change the rows of a table, such as `{jobs}`, with some values of `id`, which are their parameters. */
export type RowsById = (
  table: string,
  ids: readonly unknown[],
) => {
  /** @param condition of the rows besides their ids. */
  update(set: string, condition?: string): string
  /** @param condition of the rows besides their ids. */
  delete(condition?: string): string
}

/** Deletes the rows of a table, such as `{jobs}`, for which a condition is true, some at a time by their `id`. */
export type DeleteRows = (table: string, condition: string, values?: readonly unknown[]) => Promise<void>

/** Statements on the tables of a brick. */
export interface TableStatements {
  readonly build: BuildStatement
  readonly run: RunStatement
  readonly rowsById: RowsById
  readonly deleteRows: DeleteRows
}

/** Rows that one statement of `deleteRows` deletes. */
const MOST = 200

/** Makes the statements of a brick on tables of its own. */
export function tableStatements(db: DataSourceLike, options: TableStatementOptions): TableStatements {
  const { kind, fixedTime, of } = options
  const tables = Object.entries(options.tables).map(
    ([word, name]) => [`{${word}}`, nameOfTable(db, name)] as const,
  )
  const write: BuildStatement = (sql) => {
    const now = fixedTime === undefined ? NOW[kind] : String(Math.floor(fixedTime()))
    let text = sql.replaceAll('{now}', now)
    for (const [word, table] of tables) text = text.replaceAll(word, table)
    let parameters = 0
    return kind === 'postgres' ? text.replaceAll('?', () => `$${++parameters}`) : text
  }
  const written = new Map<string, string>()
  const build: BuildStatement = (sql) => {
    const text = written.get(sql) ?? write(sql)
    // The texts are few: they differ in lists of names and ids. A fixed time is part of the text.
    if (fixedTime === undefined && written.size < 100) written.set(sql, text)
    return text
  }
  const run: RunStatement = async (sql, values = [], tx) => {
    if (tx !== undefined) return runnerOf(tx, of).query(build(sql), values, true)
    return retryRolledBack(() => runInPool(db, build(sql), values))
  }
  const rowsById = kind === 'mysql' ? rowsInJoin : rowsInList
  const deleteRows: DeleteRows = async (table, condition, values = []) => {
    for (let found = MOST; found === MOST;) {
      const { records } = await run(`SELECT id FROM ${table} WHERE ${condition} LIMIT ${MOST}`, values)
      const ids = records.map(({ id }) => id)
      found = ids.length
      // The condition again, because a row may have changed since.
      if (found > 0) await run(rowsById(table, ids).delete(condition), [...ids, ...values])
    }
  }
  return { build, run, rowsById, deleteRows }
}

const rowsInList: RowsById = (table, ids) => {
  const where = `WHERE id IN (${ids.map(() => '?').join(', ')})`
  return {
    update: (set, condition = 'TRUE') => `UPDATE ${table} SET ${set} ${where} AND ${condition}`,
    delete: (condition = 'TRUE') => `DELETE FROM ${table} ${where} AND ${condition}`,
  }
}

/**
 * For a list of many rows MariaDB and MySQL read the whole table, and wait for the lock of each row, also for that of a row
 * whose transaction is still open. A join reads the rows one by one.
 */
const rowsInJoin: RowsById = (table, ids) => {
  const listed = ids.map(() => 'SELECT ? AS listed').join(' UNION ALL ')
  const rows = `(${listed}) AS ids STRAIGHT_JOIN ${table} AS changed ON changed.id = listed`
  return {
    update: (set, condition = 'TRUE') => `UPDATE ${rows} SET ${set} WHERE ${condition}`,
    delete: (condition = 'TRUE') => `DELETE changed FROM ${rows} WHERE ${condition}`,
  }
}

/** Milliseconds of silence after which PostgreSQL ends a brief transaction. */
const SILENCE = 10_000

/**
 * Runs a transaction on rows that every process needs. On PostgreSQL a host that is lost in it keeps their locks for ten
 * seconds, and not until the keep-alives of the server end. MariaDB and MySQL have no such limit for one transaction. The work
 * is repeated if the database has rolled it back.
 */
export function briefTransaction<T>(db: DataSourceLike, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return retryRolledBack(() =>
    db.transaction(async (tx) => {
      if (kindOf(db) === 'postgres') {
        const limit = `SET LOCAL idle_in_transaction_session_timeout = ${SILENCE}`
        await runnerOf(tx, 'briefTransaction').query(limit, [], true)
      }
      return work(tx)
    }),
  )
}

/** The part of a DataSource that gives connections. */
interface PoolLike {
  createQueryRunner(mode: 'master'): Pick<Runner, 'query' | 'release'>
}

/** Runs one statement, with the parameters of the driver, on a connection of the pool. */
export async function runInPool(
  db: PoolLike,
  sql: string,
  values: readonly unknown[],
): Promise<StatementResult> {
  const runner = db.createQueryRunner('master')
  try {
    return await runner.query(sql, values, true)
  } finally {
    await runner.release()
  }
}

/** Returns TypeORM's name of a table, in quotes, with the prefix and the schema that the application has configured. */
export function nameOfTable(
  { options: { schema, entityPrefix = '' }, driver }: Pick<DataSourceLike, 'options' | 'driver'>,
  table: string,
): string {
  const name = driver.escape(`${entityPrefix}${table}`)
  return schema === undefined ? name : `${driver.escape(schema)}.${name}`
}
