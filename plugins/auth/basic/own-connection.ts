/*
 * A connection beside the application's pool. Ten slow queries of the application must not delay the news of ended
 * sessions, and a connection that went silent must be thrown away, which TypeORM's pool does not do (pg's own
 * time-out gives the connection back to the pool). So this file asks TypeORM's driver for the library and the settings
 * that it connects with, and opens one connection of its own.
 */
import { ignore, inTime, lateDatabase } from '../deadline.ts'
import type { DataSourceLike, StatementResult } from './sql.ts'

/** One connection that nothing else uses. A statement that fails or is late closes it; the next one opens another. */
export interface OwnConnection {
  /** The same database as a source of statements for `createSql`. */
  readonly source: DataSourceLike
  close(): void
}

type Rows = readonly Readonly<Record<string, unknown>>[]

interface Link {
  /** Settles once statements may be sent. */
  readonly ready: Promise<unknown>
  query(sql: string, parameters: readonly unknown[]): Promise<Rows>
  /** Drops the connection, also one that is still being opened, without waiting for the server. */
  destroy(): void
}

/**
 * Makes a connection beside the pool of a DataSource; it opens with its first statement.
 * @param deadline gives the milliseconds that opening and one statement together may take.
 * @returns undefined where the database cannot be reached beside the DataSource (SQLite in memory) or the driver is
 * another one.
 */
export function ownConnection(source: DataSourceLike, deadline: () => number): OwnConnection | undefined {
  const open = openerFor(source)
  if (open === undefined) return undefined
  let link: Link | undefined
  let closed = false
  const drop = (): void => {
    link?.destroy()
    link = undefined
  }

  async function query(sql: string, parameters: unknown[]): Promise<StatementResult> {
    if (closed) throw new Error('The connection was closed.')
    try {
      const current = (link ??= open!())
      const rows = current.ready.then(() => current.query(sql, parameters))
      const limit = deadline()
      return { records: await inTime(rows, limit, () => lateDatabase(limit)) }
    } catch (error) {
      drop()
      throw error
    }
  }

  const runner = { query, release: async () => undefined }
  return {
    source: {
      options: source.options,
      isInitialized: true,
      entityMetadatas: source.entityMetadatas,
      driver: source.driver,
      createQueryRunner: () => runner,
    },
    close() {
      closed = true
      drop()
    },
  }
}

type Opener = () => Link

function openerFor({ options, driver }: DataSourceLike): Opener | undefined {
  const parts = driver as unknown as DriverParts
  const opener = OPENERS[options.type]
  return opener?.(parts, options as DataSourceLike['options'] & Settings)
}

const OPENERS: Readonly<Record<string, (parts: DriverParts, options: Settings) => Opener | undefined>> = {
  postgres: ({ master }) => (master?.Client ? () => openPostgres(master) : undefined),
  mysql: mysqlOpener,
  mariadb: mysqlOpener,
  'better-sqlite3': ({ sqlite }, { database }) =>
    sqlite && typeof database === 'string' && !['', ':memory:'].includes(database)
      ? () => openSqlite(sqlite, database)
      : undefined,
}

/** The part of a DataSource's options that is read here. */
interface Settings {
  readonly database?: unknown
  readonly replication?: { readonly master: object }
}

/** Members of TypeORM's drivers that their types do not declare; each is checked before its use. */
interface DriverParts {
  /** PostgreSQL: the pool, whose `options` are those that it connects with. */
  readonly master?: PostgresPool
  readonly mysql?: { createConnection(options: object): MysqlConnection }
  createConnectionOptions?(options: object, credentials: object): object
  readonly sqlite?: SqliteClass
}

interface PostgresPool {
  readonly options: { readonly password?: unknown }
  readonly Client?: new (options: object) => PostgresClient
}

interface PostgresClient {
  readonly connection?: { readonly stream?: { destroy(): void } }
  connect(): Promise<unknown>
  query(sql: string, parameters: readonly unknown[]): Promise<{ readonly rows: Rows }>
  on(event: 'error', listener: () => void): unknown
}

function openPostgres({ options, Client }: PostgresPool): Link {
  // The pool hides the password from enumeration.
  const client = new Client!({ ...options, password: options.password, keepAlive: true })
  // Node ends the process for an error event that nobody listens to; the next statement reports the loss.
  client.on('error', ignore)
  return {
    ready: client.connect(),
    query: async (sql, parameters) => (await client.query(sql, parameters)).rows,
    destroy: () => client.connection?.stream?.destroy(),
  }
}

interface MysqlConnection {
  query(
    sql: string,
    parameters: readonly unknown[],
    done: (error: Error | null, rows: unknown) => void,
  ): unknown
  on(event: 'error', listener: () => void): unknown
  destroy(): void
}

function mysqlOpener(parts: DriverParts, options: Settings): Opener | undefined {
  const { mysql } = parts
  if (mysql === undefined || parts.createConnectionOptions === undefined) return undefined
  return () =>
    openMysql(
      mysql.createConnection(parts.createConnectionOptions!(options, options.replication?.master ?? options)),
    )
}

function openMysql(connection: MysqlConnection): Link {
  connection.on('error', ignore)
  return {
    ready: Promise.resolve(),
    query: (sql, parameters) =>
      new Promise((resolve, reject) => {
        connection.query(sql, parameters, (error, rows) => (error ? reject(error) : resolve(rows as Rows)))
      }),
    destroy: () => connection.destroy(),
  }
}

type SqliteClass = new (
  file: string,
  options: object,
) => {
  prepare(sql: string): { all(...parameters: readonly unknown[]): Rows }
  close(): void
}

/** Only reads: a second writer would meet the locks of the first. */
function openSqlite(Sqlite: SqliteClass, file: string): Link {
  const connection = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: 0 })
  return {
    ready: Promise.resolve(),
    query: async (sql, parameters) => connection.prepare(sql).all(...parameters),
    destroy: () => connection.close(),
  }
}
