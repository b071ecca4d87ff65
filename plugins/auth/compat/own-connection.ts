/*
 * A connection beside the application's pool. Ten slow queries of the application must not delay the records of ended
 * sessions, and a connection that no longer responds must be closed, which TypeORM's pool does not do (pg's own timeout
 * returns the connection to the pool). So this file reads the library and the settings from TypeORM's driver, and
 * opens one connection of its own. Where the driver keeps them elsewhere, the statements go through the pool.
 */
import { ignore, inTime, lateDatabase } from '../deadline.ts'
import { createHedge } from '../hedge.ts'
import type { DataSourceLike, StatementResult } from '../basic/sql.ts'

/**
 * A dedicated connection for one statement at a time. A statement that fails or times out closes it, and the next one
 * opens another. A statement that is unusually slow is sent on a second connection too; the faster one is kept.
 */
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
  /** Closes the connection without waiting for the server, even while it is being opened. */
  destroy(): void
}

/**
 * Makes a connection beside the pool of a DataSource; it opens with its first statement.
 * @param deadline returns the milliseconds that opening and one statement together may take.
 * @returns undefined if a second connection is impossible (SQLite in memory) or the driver is not supported.
 */
export function ownConnection(source: DataSourceLike, deadline: () => number): OwnConnection | undefined {
  const open = openerFor(source)
  if (open === undefined) return undefined
  const hedge = createHedge()
  const links = new Set<Link>()
  let closed = false

  function closeAllBut(kept?: Link): void {
    for (const link of links) if (link !== kept && links.delete(link)) link.destroy()
  }

  async function query(sql: string, parameters: unknown[]): Promise<StatementResult> {
    const limit = deadline()
    let [idle] = links
    const attempt = async () => {
      if (closed) throw new Error('The connection was closed.')
      const link = idle ?? open!()
      idle = undefined
      links.add(link)
      await link.ready
      return { records: await link.query(sql, parameters), link }
    }
    try {
      const { records, link } = await inTime(hedge(attempt), limit, () => lateDatabase(limit))
      closeAllBut(link)
      return { records }
    } catch (error) {
      closeAllBut()
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
      closeAllBut()
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
  end(): Promise<void>
  query(sql: string, parameters: readonly unknown[]): Promise<{ readonly rows: Rows }>
  on(event: 'error', listener: () => void): unknown
}

function openPostgres({ options, Client }: PostgresPool): Link {
  // The pool hides the password from enumeration.
  const client = new Client!({ ...options, password: options.password, keepAlive: true })
  // Node ends the process after an error event without a listener. The next statement reports the lost connection.
  client.on('error', ignore)
  return {
    ready: client.connect(),
    query: async (sql, parameters) => (await client.query(sql, parameters)).rows,
    destroy: () =>
      client.connection?.stream ? client.connection.stream.destroy() : void client.end().catch(ignore),
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

/** Opens SQLite read-only, because a second writer would wait for the locks of the first. */
function openSqlite(Sqlite: SqliteClass, file: string): Link {
  const connection = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: 0 })
  return {
    ready: Promise.resolve(),
    query: async (sql, parameters) => connection.prepare(sql).all(...parameters),
    destroy: () => connection.close(),
  }
}
