import { setTimeout as wait } from 'node:timers/promises'
import type { DataSource, DataSourceOptions } from 'typeorm'
import type { StartupError } from 'mortar'
import { kindOf } from 'mortar/kit'
import { describeConstruction, describeOpening } from '../failures/connection-failure.ts'
import { withBinaryColumns } from '../columns/binary-columns.ts'
import { adaptColumnValues } from '../columns/column-values.ts'
import { IN_UTC } from '../connections/mysql-session.ts'
import { watchConnections } from '../connections/watch-connections.ts'
import { takeEntities } from '../entities.ts'
import { checkGate, gateTransactions } from '../gate/gate-transactions.ts'
import type { ConnectionOptions } from '../options.ts'
import { poolShare } from './pool-share.ts'
import { adaptGivenDriver, withSqliteDriver } from './sqlite-driver.ts'
import { typeorm } from './typeorm.ts'
import { rememberKeys } from '../failures/unique-keys.ts'
import { fault } from '../startup-codes.ts'

/**
 * Makes a DataSource without connecting, with the defaults below and, on SQLite, the transaction gate.
 * Export it, so that the brick and others share one connection: `database(dataSource)`, `basicAuth({ db: dataSource })`.
 * On SQLite it chooses the driver, see `withSqliteDriver`.
 * @throws StartupError for an unknown type or a driver that is not installed.
 */
export function createDataSource(options: ConnectionOptions): DataSource {
  if (typeof options.type !== 'string') throw noType()
  const entities = withBinaryColumns(takeEntities(options.entities ?? []), options.type)
  const complete = { ...defaultsFor(options), ...options, entities } as DataSourceOptions
  const dataSource = construct(withSqliteDriver(complete))
  gateTransactions(dataSource)
  watchConnections(dataSource)
  rememberKeys(dataSource)
  adaptColumnValues(dataSource)
  return dataSource
}

/**
 * Connects a DataSource unless it is connected.
 * @returns true if this call connected it; then the caller closes it.
 * @throws StartupError with the address and the remedy, never a password.
 */
export async function openDataSource(dataSource: DataSource): Promise<boolean> {
  adaptColumnValues(dataSource)
  if (dataSource.isInitialized) {
    await checkGate(dataSource)
    await checkEscapes(dataSource)
    return false
  }
  adaptGivenDriver(dataSource)
  watchConnections(dataSource)
  rememberKeys(dataSource)
  try {
    await initialize(dataSource)
    return true
  } catch (error) {
    throw describeOpening(error, dataSource.options)
  }
}

/** Refuses connections that were opened before their sessions could be prepared for the driver's way to write values. */
async function checkEscapes(db: DataSource): Promise<void> {
  if (kindOf(db) !== 'mysql') return
  const [row] = await db.query<{ mode: string }[]>('SELECT @@sql_mode AS mode')
  if (row!.mode.includes('NO_BACKSLASH_ESCAPES'))
    throw fault(
      'MORTAR_DATABASE_ESCAPES',
      'The sessions of this DataSource have the mode NO_BACKSLASH_ESCAPES.',
    )
}

/** Number of attempts to open a busy database, and milliseconds between them: five seconds in total. */
const ATTEMPTS = 50
const PAUSE = 100

/**
 * While one process turns on the write-ahead log of a new SQLite file, the others are refused immediately: SQLite's
 * own time-out does not cover that moment.
 */
async function initialize(dataSource: DataSource): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      await dataSource.initialize()
      return
    } catch (error) {
      const { code } = (error ?? {}) as { readonly code?: unknown }
      if (attempt === ATTEMPTS || !String(code).startsWith('SQLITE_BUSY')) throw error
      await wait(PAUSE)
    }
}

function construct(options: DataSourceOptions): DataSource {
  try {
    return new typeorm.DataSource(options)
  } catch (error) {
    throw describeConstruction(error, options)
  }
}

/** Defaults that make a connection safe. An application can change each. */
function defaultsFor(options: ConnectionOptions): Readonly<Record<string, unknown>> {
  if (options.type !== 'better-sqlite3') return serverDefaults(options.type)
  if (!options.database) throw noDatabase()
  // TypeORM itself makes the parent folder and switches foreign keys on.
  return { enableWAL: isFile(options.database) && !options.readonly }
}

const SERVER_DEFAULTS: Partial<Record<string, Readonly<Record<string, unknown>>>> = {
  // Without this option, a server that drops packets would block the start forever.
  postgres: { connectTimeoutMS: 10_000 },
  mysql: IN_UTC,
  mariadb: IN_UTC,
}

function serverDefaults(type: string): Readonly<Record<string, unknown>> {
  const own = SERVER_DEFAULTS[type]
  return own === undefined ? {} : { ...own, ...poolShare() }
}

const isFile = (database: string): boolean => database !== ':memory:'

function noType(): StartupError {
  return fault('MORTAR_DATABASE_URL', 'The options of the database name no type.', {
    remedy: `Set type: 'postgres', 'mysql', 'mariadb' or 'better-sqlite3', or pass fromUrl(url), which reads it from the URL.`,
  })
}

/** Refuses an empty name, which SQLite treats as a temporary database, so that all data would be lost silently. */
function noDatabase(): StartupError {
  return fault('MORTAR_DATABASE_URL', 'The SQLite connection names no database.', {
    remedy: `Set database: 'data/app.db', or ':memory:' for a database that exists until the process ends.`,
  })
}
