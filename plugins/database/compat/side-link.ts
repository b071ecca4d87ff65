/*
 * The undocumented parts of TypeORM's drivers and of pg on which connections beside the pool rely:
 *
 * 1. `driver.master` of PostgreSQL is the pool, whose `options` and `Client` make its connections. `options.password` is
 *    hidden from enumeration.
 * 2. `driver.mysql` and `driver.createConnectionOptions` of MySQL are the package and its settings.
 * 3. `driver.sqlite` of better-sqlite3 is the class of its connections.
 * 4. `client.connection.stream` of pg is its socket. Fallback: the connection ends when the server responds.
 *
 * Without 1 to 3 there is no connection beside the pool: reads use the pool, and limits count in memory.
 * test/plugins/database/drifted-packages.test.ts renames each of them.
 */
import { ignore } from 'mortar/kit'
import type { SideConnectionOptions, StatementResult } from 'mortar/kit'

/** A connection to a server or a file, which runs statements one after another. */
export interface SideLink {
  query(sql: string, values: readonly unknown[]): Promise<StatementResult>
  /** Closes the connection without waiting for the server, even while it is being opened. */
  destroy(): void
}

/** Opens a link, and calls back when the link is lost. */
export type OpenLink = (onLost: () => void) => SideLink

interface Source {
  readonly options: Settings & { readonly type: string }
  readonly driver: DriverParts
}

interface Settings {
  readonly url?: unknown
  readonly host?: unknown
  readonly database?: unknown
  readonly replication?: { readonly master: object }
}

interface DriverParts {
  readonly master?: PostgresPool
  readonly mysql?: { createConnection(options: object): MysqlConnection }
  createConnectionOptions?(options: object, credentials: object): object
  readonly sqlite?: SqliteClass
}

type Multiple = Pick<SideConnectionOptions, 'multipleStatements'>
type Opener = (source: Source, options: Multiple) => OpenLink | undefined

const OPENERS: Readonly<Record<string, Opener>> = {
  postgres: ({ driver: { master } }) =>
    master?.Client && master.options ? (onLost) => openPostgres(master, onLost) : undefined,
  mysql: mysqlLinks,
  mariadb: mysqlLinks,
  'better-sqlite3': ({ driver: { sqlite }, options: { database } }) =>
    sqlite && typeof database === 'string' && !['', ':memory:'].includes(database)
      ? () => openSqlite(sqlite, database)
      : undefined,
}

/** Returns a function that opens links to the database of a DataSource; undefined if there can be none. */
export function sideLinksOf(source: object, options: Multiple): OpenLink | undefined {
  const { type } = (source as Source).options
  return Object.hasOwn(OPENERS, type) ? OPENERS[type]!(source as Source, options) : undefined
}

/** Opens a SQLite file with the driver of a DataSource. The driver does not wait for locks, which would block the process. */
export function openSqliteFile(source: object, path: string): object {
  const { sqlite: Sqlite } = (source as Source).driver
  if (Sqlite === undefined) throw new Error('This driver does not show the class of its connections.')
  return new Sqlite(path, { timeout: 0 })
}

interface PostgresPool {
  readonly options?: { readonly password?: unknown }
  readonly Client?: new (options: object) => PostgresClient
}

interface PostgresClient {
  readonly connection?: { readonly stream?: { destroy(): void } }
  connect(): Promise<unknown>
  end(): Promise<void>
  query(sql: string, values: readonly unknown[]): Promise<PostgresResult>
  on(event: 'error' | 'end', listener: () => void): unknown
}

interface PostgresResult {
  readonly rows: StatementResult['records']
  readonly rowCount: number
}

function openPostgres({ options, Client }: PostgresPool, onLost: () => void): SideLink {
  // The pool hides the password from enumeration.
  const client = new Client!({ ...options, password: options!.password, keepAlive: true })
  // Node ends the process after an error event without a listener.
  client.on('error', onLost)
  client.on('end', onLost)
  const ready = client.connect()
  // pg 9 refuses a statement while another one runs.
  let free: Promise<unknown> = ready
  return {
    query(sql, values) {
      // Statements without a name also work through PgBouncer in transaction mode.
      const result = free.then(() => ready).then(() => client.query(sql, values))
      free = result.catch(ignore)
      return result.then(({ rows, rowCount }) => ({ records: rows, affected: rowCount }))
    },
    destroy: () =>
      client.connection?.stream ? client.connection.stream.destroy() : void client.end().catch(ignore),
  }
}

interface MysqlConnection {
  query(
    sql: string,
    values: readonly unknown[],
    done: (error: Error | null, result: unknown) => void,
  ): unknown
  on(event: 'error' | 'end', listener: () => void): unknown
  destroy(): void
}

function mysqlLinks({ driver, options }: Source, several: Multiple): OpenLink | undefined {
  const { mysql } = driver
  if (mysql === undefined || driver.createConnectionOptions === undefined) return undefined
  const credentials: Settings = options.replication?.master ?? options
  const settings: Settings = driver.createConnectionOptions(options, credentials)
  // Without a host, the driver would connect to a server on this computer. That of a URL replaces the option.
  const host = credentials.url === undefined ? credentials.host : undefined
  const isExpected = 'host' in settings && (host ?? settings.host) === settings.host
  if (!isExpected) return undefined
  return (onLost) => openMysql(mysql.createConnection({ ...settings, ...several }), onLost)
}

function openMysql(connection: MysqlConnection, onLost: () => void): SideLink {
  // Node ends the process after an error event without a listener.
  connection.on('error', onLost)
  connection.on('end', onLost)
  return {
    query: (sql, values) =>
      new Promise((resolve, reject) => {
        connection.query(sql, values, (error, result) => {
          if (error) return reject(error)
          resolve(
            Array.isArray(result)
              ? { records: result }
              : { records: [], affected: (result as { readonly affectedRows: number }).affectedRows },
          )
        })
      }),
    destroy: () => connection.destroy(),
  }
}

type SqliteClass = new (
  file: string,
  options: object,
) => {
  prepare(sql: string): { all(...values: readonly unknown[]): StatementResult['records'] }
  close(): void
}

/** Opens SQLite read-only, because a second writer would wait for the locks of the first. */
function openSqlite(Sqlite: SqliteClass, file: string): SideLink {
  const connection = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: 0 })
  return {
    query: async (sql, values) => ({ records: connection.prepare(sql).all(...values) }),
    destroy: () => connection.close(),
  }
}
