/** Name of the table, on SQLite in a file of its own. */
export const TABLE = 'mortar_limits'

/** The used part of a TypeORM DataSource: the service `db`. */
export interface DataSourceLike {
  readonly options: {
    readonly type: string
    readonly database?: unknown
    readonly schema?: string
    readonly replication?: { readonly master: object }
  }
  readonly driver: object
}

/*
 * Members of TypeORM's drivers that their types do not declare. The limits have connections of their own, because a
 * transaction of the application would take its counts back, and because a full pool must not delay a refusal.
 */

/** PostgreSQL: the pool, whose `options` are those that it connects with. */
export interface PostgresDriver {
  readonly master?: {
    readonly options: { readonly password?: unknown }
    readonly Client?: new (options: object) => PostgresClient
  }
}

export interface PostgresClient {
  readonly connection?: { readonly stream?: { destroy(): void } }
  connect(): Promise<unknown>
  end?(): Promise<void>
  query(text: string, values: readonly unknown[]): Promise<PostgresResult>
  on(event: 'error' | 'end', listener: () => void): unknown
}

export interface PostgresResult {
  readonly rows: unknown[]
  readonly rowCount: number
}

export interface MysqlDriver {
  readonly mysql?: { createConnection(options: object): MysqlConnection }
  createConnectionOptions?(options: object, credentials: object): object
}

export interface MysqlConnection {
  query(
    sql: string,
    values: readonly unknown[],
    done: (error: Error | null, result: unknown) => void,
  ): unknown
  on(event: 'error' | 'end', listener: () => void): unknown
  destroy(): void
}

export interface SqliteDriver {
  readonly sqlite?: new (file: string, options: object) => SqliteFile
}

export interface SqliteFile {
  prepare(sql: string): {
    run(...values: readonly unknown[]): { readonly changes: number }
    get(...values: readonly unknown[]): unknown
  }
  /** `immediate` begins with the lock of the writer. */
  transaction<Given, Result>(work: (given: Given) => Result): { immediate(given: Given): Result }
  exec(sql: string): unknown
  close(): void
}
