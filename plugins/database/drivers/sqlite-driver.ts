import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { DataSource } from 'typeorm'
import type { StartupError } from 'mortar'
import { buildRemedy, installCommand } from 'mortar/kit'
import { replaceSqliteClass } from '../compat/driver-module.ts'
import { adaptLibsql, isLibsql, type LibsqlClass } from './libsql-driver.ts'
import { fault } from '../startup-codes.ts'

/** A SQLite driver's class, as TypeORM's option `driver` of the type `better-sqlite3` accepts it. */
export type SqliteDriver = new (file: string, options?: object) => { close(): unknown }

/** The JavaScript runtime of a process. */
export interface Runtime {
  readonly name: 'Node' | 'Bun' | 'Deno'
  readonly version: string
}

/** Location of the packages and the runtime for the choice of a driver. Tests pass their own. */
export interface Surroundings {
  readonly runtime: Runtime
  /** Loads a module by its name; throws as `require` does. */
  readonly load: (name: string) => unknown
  readonly warn: (message: string) => void
}

interface SqliteOptions {
  readonly type: string
  readonly driver?: unknown
  readonly nativeBinding?: unknown
}

/**
 * Adds the SQLite driver to options of the type `better-sqlite3`: the given one after a check, else better-sqlite3 where
 * it loads, else libsql. libsql is adapted, see libsql-driver.ts. Options of other types come back as they are.
 * @throws StartupError that names both packages when neither loads.
 */
export function withSqliteDriver<Options extends SqliteOptions>(
  options: Options,
  surroundings: Surroundings = SURROUNDINGS,
): Options {
  const { type, driver, nativeBinding } = options
  if (type !== 'better-sqlite3' || nativeBinding) return options
  if (!driver) return { ...options, driver: chooseDriver(surroundings) }
  const adapted = isLibsql(driver) ? adaptLibsql(driver) : driver
  checkInterface(adapted)
  return adapted === driver ? options : { ...options, driver: adapted }
}

/** @throws StartupError for a class of another interface, such as those of `node:sqlite` and `bun:sqlite`. */
function checkInterface(driver: unknown): void {
  const tried = attempt(() => {
    if (typeof driver !== 'function') throw new Error(`it is a value of type ${typeof driver}`)
    const connection = new (driver as new (file: string) => Tried)(':memory:')
    connection.pragma('user_version')
    const [row] = connection.prepare('SELECT 1').raw().all()
    if (row?.[0] !== 1 || connection.inTransaction !== false) throw new Error('it returns other values')
    connection.close()
    return { driver: driver as SqliteDriver, version: '' }
  })
  if ('driver' in tried) return
  throw fault(
    'MORTAR_DATABASE_DRIVER',
    `The option driver is not a class with the interface of better-sqlite3: ${tried.reason}.`,
    { remedy: `Give the class that better-sqlite3 or libsql exports, or leave out the option.` },
  )
}

/** The part of a driver's interface that is tried. */
interface Tried {
  readonly inTransaction: unknown
  pragma(source: string): unknown
  prepare(sql: string): { raw(): { all(): readonly (readonly unknown[])[] } }
  close(): unknown
}

/** Adapts a libsql that a DataSource of the application's own was made with; it must not be connected yet. */
export function adaptGivenDriver(dataSource: DataSource): void {
  const { options } = dataSource
  if (options.type === 'better-sqlite3' && isLibsql(options.driver))
    replaceSqliteClass<unknown>(dataSource, (given) => (isLibsql(given) ? adaptLibsql(given) : given))
}

/** Makes connections that refuse writes from now on, those of other bricks too. Does nothing on other databases. */
export function openSqliteForReading(dataSource: DataSource): void {
  if (dataSource.options.type === 'better-sqlite3') replaceSqliteClass(dataSource, readOnlyClass)
}

function readOnlyClass(Given: SqliteClass): SqliteClass {
  return class extends Given {
    constructor(...given: ConstructorParameters<SqliteClass>) {
      super(...given)
      this.exec(QUERY_ONLY)
    }
  }
}

type SqliteClass = new (file: string, options?: object) => { exec(sql: string): unknown }

/** Makes a connection of SQLite refuse writes. */
export const QUERY_ONLY = 'PRAGMA query_only = ON'

function chooseDriver({ runtime, load, warn }: Surroundings): SqliteDriver {
  const first = attempt(() => loadBetterSqlite(load, runtime))
  if ('driver' in first) {
    if (abortsOn(runtime, first.version)) warn(describeAborts(first.version, runtime))
    return first.driver
  }
  const second = attempt(() => ({ driver: loadLibsql(load), version: '' }))
  if (!('driver' in second)) throw noDriver(runtime, first.reason, second.reason)
  if (first.reason !== NOT_INSTALLED && runtime.name === 'Node')
    warn(`better-sqlite3 cannot be loaded, so libsql is used instead: ${first.reason}`)
  return second.driver
}

interface Loaded {
  readonly driver: SqliteDriver
  readonly version: string
}

function attempt(load: () => Loaded): Loaded | { readonly reason: string } {
  try {
    return load()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const missing =
      code === 'MODULE_NOT_FOUND' && /'(?:better-sqlite3|libsql)(?:\/package\.json)?'/.test(message)
    return { reason: missing ? NOT_INSTALLED : (message.split('\n')[0] ?? String(error)) }
  }
}

const NOT_INSTALLED = 'not installed'

/** Opens a database in memory, since the binary is loaded by the first connection and not by `require`. */
function loadBetterSqlite(load: (name: string) => unknown, runtime: Runtime): Loaded {
  const { version } = load('better-sqlite3/package.json') as { version: string }
  const major = majorOf(version)
  if (major < 13 && runtime.name !== 'Node')
    throw new Error(`version ${version} runs on Node only, version 13 also on ${runtime.name}`)
  // Its binary ends the process there, which no test by loading it could survive.
  if (major >= 13 && runtime.name === 'Node' && majorOf(runtime.version) < 22)
    throw new Error(`version ${version} needs Node 22 or later`)
  const driver = load('better-sqlite3') as SqliteDriver
  new driver(':memory:').close()
  return { driver, version }
}

function loadLibsql(load: (name: string) => unknown): SqliteDriver {
  const Libsql = load('libsql') as LibsqlClass
  new Libsql(':memory:').close()
  return adaptLibsql(Libsql)
}

const majorOf = (version: string): number => Number.parseInt(version, 10)

/** Node 24.19 gave `node::ObjectWrap`, on which better-sqlite3 before 13 is built, a check that aborts the process. */
function abortsOn({ name, version }: Runtime, driver: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return name === 'Node' && majorOf(driver) < 13 && (major > 24 || (major === 24 && minor >= 19))
}

const describeAborts = (driver: string, { version }: Runtime): string =>
  `better-sqlite3 ${driver} can abort the process on Node ${version}. Install better-sqlite3@13; docs/runtimes.md has the lines.`

function noDriver({ name, version }: Runtime, betterSqlite: string, libsql: string): StartupError {
  const onNode = name === 'Node'
  const broken = betterSqlite !== NOT_INSTALLED && onNode
  // Version 12 runs on Node only.
  const suitable = installCommand([{ name: 'better-sqlite3', ...(!onNode && { range: '13' }) }])
  return fault(
    'MORTAR_DATABASE_DRIVER',
    `No SQLite driver can be loaded on ${name} ${version}. better-sqlite3: ${betterSqlite}. libsql: ${libsql}.`,
    {
      remedy: `${broken ? `${buildRemedy('better-sqlite3')}. Or install one` : 'Install one'}: ${suitable}, or ${installCommand([{ name: 'libsql' }])}.${onNode ? '' : ' docs/runtimes.md has the lines.'}`,
    },
  )
}

function runtimeOf(): Runtime {
  const { bun, deno, node } = process.versions as Record<string, string | undefined>
  if (bun !== undefined) return { name: 'Bun', version: bun }
  if (deno !== undefined) return { name: 'Deno', version: deno }
  return { name: 'Node', version: node! }
}

/** From the framework's own place, where a peer dependency is found, else from the working directory. */
function loadPackage(name: string): unknown {
  try {
    return createRequire(import.meta.url)(name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
    return createRequire(join(process.cwd(), 'package.json'))(name)
  }
}

const SURROUNDINGS: Surroundings = {
  runtime: runtimeOf(),
  load: loadPackage,
  warn: (message) => process.emitWarning(message, { code: 'MORTAR_SQLITE_DRIVER' }),
}
