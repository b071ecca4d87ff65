import { retryRolledBack, type StatementResult } from 'mortar/kit'
import { runnerOf, type Runner, type Transaction } from '../transactions.ts'

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
export type Kind = 'postgres' | 'mysql' | 'sqlite'

const KINDS: Readonly<Record<string, Kind>> = {
  postgres: 'postgres',
  mysql: 'mysql',
  mariadb: 'mysql',
  'better-sqlite3': 'sqlite',
}

/** Returns the kind of a database; undefined if the brick does not know it. */
export function kindOf({ options: { type } }: DataSourceLike): Kind | undefined {
  return Object.hasOwn(KINDS, type) ? KINDS[type] : undefined
}

/** Milliseconds since the epoch, fixed during a statement, so that an index on times can be used. */
const NOW: Readonly<Record<Kind, string>> = {
  postgres: 'cast(floor(extract(epoch from statement_timestamp()) * 1000) as bigint)',
  mysql: "(timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(3)) div 1000)",
  sqlite: "cast(round((julianday('now') - 2440587.5) * 86400000) as integer)",
}

/** Runs statements on the table of jobs. `{jobs}` is the table, `{now}` the current time, `?` a parameter. */
export type RunStatement = (
  sql: string,
  values?: readonly unknown[],
  tx?: Transaction,
) => Promise<StatementResult>

/**
 * @param fixedTime replaces the clock of the database in tests.
 */
export function statementsOf(db: DataSourceLike, kind: Kind, fixedTime?: () => number): RunStatement {
  const table = tableOf(db)
  const write = (sql: string): string => {
    const now = fixedTime === undefined ? NOW[kind] : String(Math.floor(fixedTime()))
    const text = sql.replaceAll('{jobs}', table).replaceAll('{now}', now)
    let parameters = 0
    return kind === 'postgres' ? text.replaceAll('?', () => `$${++parameters}`) : text
  }
  const written = new Map<string, string>()
  const build = (sql: string): string => {
    const text = written.get(sql) ?? write(sql)
    // The texts are few: they differ in lists of names and ids. A fixed time is part of the text.
    if (fixedTime === undefined && written.size < 100) written.set(sql, text)
    return text
  }
  return async (sql, values = [], tx) => {
    if (tx !== undefined) return runnerOf(tx).query(build(sql), values, true)
    return retryRolledBack(() => runAlone(db, build(sql), values))
  }
}

async function runAlone(
  db: DataSourceLike,
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

/** TypeORM's name of the table, with the prefix and the schema that the application has configured. */
function tableOf({ options: { schema, entityPrefix = '' }, driver }: DataSourceLike): string {
  const name = driver.escape(`${entityPrefix}mortar_jobs`)
  return schema === undefined ? name : `${driver.escape(schema)}.${name}`
}
