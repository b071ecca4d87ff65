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
  query(
    text: string,
    values: readonly unknown[],
  ): Promise<{ readonly rows: unknown[]; readonly rowCount: number }>
  on(event: 'error' | 'end', listener: () => void): unknown
}

export interface MysqlDriver {
  readonly database?: string
  readonly mysql?: { createPool(options: object): MysqlPool }
  createConnectionOptions?(options: object, credentials: object): object
}

export interface MysqlPool {
  getConnection(done: (error: Error | null, connection: MysqlConnection) => void): void
  on(event: 'connection', listener: (connection: MysqlConnection) => void): unknown
}

export interface MysqlConnection {
  query(
    sql: string,
    values: readonly unknown[],
    done: (error: Error | null, result: unknown) => void,
  ): unknown
  on(event: 'error', listener: () => void): unknown
  release(): void
  destroy(): void
}

export interface SqliteDriver {
  readonly sqlite?: new (file: string, options: object) => SqliteFile
}

export interface SqliteFile {
  prepare(sql: string): { run(...values: readonly unknown[]): { readonly changes: number } }
  exec(sql: string): unknown
  close(): void
}
