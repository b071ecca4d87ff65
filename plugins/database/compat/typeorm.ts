/**
 * The undocumented parts of TypeORM on which this brick relies:
 *
 * 1. `DataSource#createQueryRunner` asks `driver.createQueryRunner` each time, and both may be replaced on the object,
 *    like `driver.afterConnect`, `driver.disconnect` and the manager's methods. Without this there is no gate, so the
 *    start fails.
 * 2. A runner for better-sqlite3 keeps its prepared statements in the private Map `stmtCache`. Fallback: each runner
 *    prepares its own statements.
 * 3. What driver-module.ts lists.
 * 4. `driver.databaseConnection` is better-sqlite3's connection, which shows open transactions. Without it there is no
 *    gate, so the start fails. `driver.master` is the pool of pg. Fallback: `query()` reads through a query runner.
 * 5. A runner for PostgreSQL passes the error of a lost connection to its method `releasePostgresConnection`. Fallback:
 *    its next statement fails as on a released runner.
 * 6. `driver/DriverFactory.js` requires a module for each kind of database and reads its class when a DataSource of that
 *    kind is made. Fallback: all drivers are loaded.
 * 7. TypeORM reads the functions of LATE_PACKAGES when it calls them. Fallback: they and all drivers are loaded.
 * 8. A runner for better-sqlite3 begins a transaction with `BEGIN TRANSACTION`, counts it in `transactionDepth` and
 *    `isTransactionActive`, and runs nothing if `isReleased`. Without it the gate would accept statements that it has to
 *    refuse, so the start fails.
 *
 * `test/plugins/database/compat-typeorm.test.ts` breaks each of them in a copy of TypeORM's objects.
 */
import { readFileSync } from 'node:fs'
import { createRequire, Module } from 'node:module'
import { dirname, join } from 'node:path'
import type { DataSource, EntityManager, QueryRunner } from 'typeorm'
import type { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js'
import type { StartupError } from 'mortar'
import { fault, STARTUP_CODES } from '../startup-codes.ts'
import { methodOf, namedTypeOrm } from './driver-module.ts'

/** Packages that TypeORM needs to format logged SQL, for its logger `debug`, and for patterns of file names. */
const LATE_PACKAGES = ['@sqltools/formatter', 'sql-highlight', 'debug', 'tinyglobby']

/**
 * Loads TypeORM without the drivers of databases that are not used, which are half of its code, and without some of its
 * packages. Each is loaded when something of it is read. Other importers of such a module never see the stand-in.
 */
export function withLateModules<T>(require: NodeJS.Require, load: () => T): T {
  const { cache } = require
  const late = lateFiles(require).filter((file) => cache[file] === undefined)
  for (const file of late) cache[file] = lateModule(file, require)
  try {
    return load()
  } finally {
    for (const file of late) if (cache[file] instanceof LateModule) Reflect.deleteProperty(cache, file)
  }
}

/** Bun and Deno have module caches of their own, and TypeORM may be missing or another one. */
function lateFiles(require: NodeJS.Require): string[] {
  if (process.versions['bun'] !== undefined || process.versions['deno'] !== undefined) return []
  try {
    const factory = require.resolve('typeorm/driver/DriverFactory.js')
    const required = readFileSync(factory, 'utf8').matchAll(/require\("(\.\/[^"]+Driver)"\)/g)
    const drivers = [...required].map(([, path]) => join(dirname(factory), `${path}.js`))
    const { resolve } = createRequire(factory)
    return [...drivers, ...LATE_PACKAGES.map((name) => resolve(name))]
  } catch {
    return []
  }
}

class LateModule extends Module {}

function lateModule(file: string, require: NodeJS.Require): LateModule {
  const module = new LateModule(file)
  module.loaded = true
  module.exports = new Proxy(
    {},
    {
      get(_, name) {
        if (require.cache[file] === module) Reflect.deleteProperty(require.cache, file)
        return (require(file) as Record<string | symbol, unknown>)[name]
      },
    },
  )
  return module
}

/** The part of a better-sqlite3 connection that is used without TypeORM. */
export interface SqliteConnection {
  readonly inTransaction: boolean
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
}

/** A prepared statement; `raw()` makes its rows arrays. */
export interface SqliteStatement {
  raw(): SqliteStatement
  all(...values: readonly unknown[]): (readonly unknown[])[]
}

/** The part of pg's pool that is used without TypeORM. */
export interface PostgresPool {
  query(statement: { name?: string; text: string; values: readonly unknown[] }): Promise<{
    readonly rows: Readonly<Record<string, unknown>>[]
  }>
}

/** Prepared statements by SQL text, as TypeORM's runner keeps them. */
export type Statements = Map<string, unknown>

/** Returns better-sqlite3's connection. TypeORM's type has it always, but it is undefined before the first connect. */
export function sqliteConnectionOf(driver: DataSource['driver']): SqliteConnection | undefined {
  return (driver as BetterSqlite3Driver).databaseConnection as SqliteConnection | undefined
}

/** Returns the only pool for reads, or undefined if their number is not one. */
export function postgresPoolOf({ driver, options }: DataSource): PostgresPool | undefined {
  if (options.type !== 'postgres' || options.replication) return undefined
  return (driver as { master?: PostgresPool }).master
}

/** Lets a runner use the prepared statements of other runners. Otherwise each runner would prepare each query again. */
export function shareStatements(runner: QueryRunner, statements: Statements): void {
  if (keepsStatements(runner)) runner.stmtCache = statements
}

function keepsStatements(runner: object): runner is { stmtCache: Statements } {
  return 'stmtCache' in runner && runner.stmtCache instanceof Map
}

/** Replacements for methods of TypeORM's driver. */
export interface Replacement {
  readonly createQueryRunner: () => QueryRunner
  readonly afterConnect: () => Promise<void>
  readonly afterDisconnect: () => void
}

/**
 * Makes a DataSource use other query runners.
 * @throws StartupError, also from the connect, if TypeORM lacks what the gate needs.
 */
export function replaceRunners(dataSource: DataSource, replacement: Replacement): void {
  const { driver } = dataSource
  const connected = methodOf(driver, 'afterConnect')
  const disconnect = methodOf(driver, 'disconnect')
  let made: QueryRunner | undefined
  driver.createQueryRunner = () => (made = replacement.createQueryRunner())
  driver.afterConnect = async () => {
    await connected()
    if (typeof sqliteConnectionOf(driver)?.inTransaction !== 'boolean')
      throw noGate(
        'keeps the connection to SQLite elsewhere, so that the transaction gate cannot see transactions.',
      )
    await replacement.afterConnect()
  }
  driver.disconnect = async () => {
    await disconnect()
    replacement.afterDisconnect()
  }
  if (dataSource.createQueryRunner() !== made || made === undefined)
    throw noGate('does not use the query runners of the transaction gate.')
}

/** The error of a version of TypeORM on which the gate cannot work. */
export function noGate(found: string): StartupError {
  return fault('MORTAR_DATABASE_GATE', `${namedTypeOrm()} ${found}`)
}

/** Replaces the further statements of a PostgreSQL runner whose connection was lost between two statements. */
export function replaceLostStatements(
  { driver, options }: DataSource,
  statement: (error: Error) => QueryRunner['query'],
): void {
  if (options.type !== 'postgres') return
  const create = methodOf(driver, 'createQueryRunner')
  driver.createQueryRunner = (mode) => {
    const runner = create(mode) as LosableRunner
    const release = runner.releasePostgresConnection
    if (release !== undefined)
      runner.releasePostgresConnection = (error) => {
        const released = release.call(runner, error)
        if (error === undefined) return released
        runner.query = statement(error)
        // TypeORM refuses a released runner before it asks for the statement. The caller releases it.
        runner.isReleased = false
        return released
      }
    return runner
  }
}

type LosableRunner = Omit<QueryRunner, 'isReleased'> & {
  isReleased: boolean
  releasePostgresConnection?: (error?: Error) => Promise<void>
}

/** The methods of an entity manager that open a transaction of their own. */
const TRANSACTIONAL = ['transaction', 'save', 'remove', 'softRemove', 'recover'] as const

/** Runs those methods of a manager that open a transaction inside `wrap`. */
export function wrapTransactions(manager: EntityManager, wrap: (work: () => unknown) => unknown): void {
  for (const name of TRANSACTIONAL) {
    const original = manager[name] as (...args: unknown[]) => unknown
    const value = (...args: unknown[]) => wrap(() => original.apply(manager, args))
    Object.defineProperty(manager, name, { value, configurable: true, writable: true })
  }
}

/**
 * Checks the undocumented parts on an open DataSource.
 * @returns the missing parts with their consequences, for the log; empty with every supported version.
 */
export function findChangedInsides(dataSource: DataSource): string[] {
  return changedInsides(dataSource).map(
    (change) => `${namedTypeOrm()} ${change} ${STARTUP_CODES.MORTAR_DATABASE_TYPEORM.remedy}`,
  )
}

function changedInsides(dataSource: DataSource): string[] {
  const { type } = dataSource.options
  if (type === 'better-sqlite3')
    return [
      ...(keepsStatements(dataSource.createQueryRunner()) ? [] : [NO_STATEMENTS]),
      ...(canReadArrays(sqliteConnectionOf(dataSource.driver)) ? [] : [NO_CONNECTION]),
    ]
  if (type !== 'postgres' || dataSource.options.replication) return []
  return typeof postgresPoolOf(dataSource)?.query === 'function' ? [] : [NO_CONNECTION]
}

const NO_STATEMENTS = 'stores prepared statements elsewhere. Each query is prepared again.'

const NO_CONNECTION = "stores the driver's connection elsewhere. query() reads through a query runner."

function canReadArrays(connection: SqliteConnection | undefined): boolean {
  try {
    return connection?.prepare('SELECT 1 AS one').raw().all()[0]?.[0] === 1
  } catch {
    return false
  }
}
