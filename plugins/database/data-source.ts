import { setTimeout as wait } from 'node:timers/promises'
import type { DataSource, DataSourceOptions } from 'typeorm'
import { StartupError } from '../../src/index.ts'
import { describeConstruction, describeOpening } from './connection-failure.ts'
import { withBinaryColumns } from './binary-columns.ts'
import { takeEntities } from './entities.ts'
import { gateTransactions } from './gate-transactions.ts'
import type { ConnectionOptions } from './options.ts'
import { adaptGivenDriver, withSqliteDriver } from './sqlite-driver.ts'
import { typeorm } from './typeorm.ts'

/**
 * Makes a DataSource without connecting, with the defaults below and, on SQLite, the transaction gate.
 * Export it, so that the brick and others share one connection: `database(dataSource)`, `basicAuth({ db: dataSource })`.
 * On SQLite it chooses the driver, see `withSqliteDriver`.
 * @throws StartupError for an unknown type or a driver that is not installed.
 */
export function createDataSource(options: ConnectionOptions): DataSource {
  const entities = withBinaryColumns(takeEntities(options.entities ?? []), options.type)
  const complete = { ...defaultsFor(options), ...options, entities } as DataSourceOptions
  const dataSource = construct(withSqliteDriver(complete))
  gateTransactions(dataSource)
  return dataSource
}

/**
 * Connects, unless that has been done.
 * @returns whether it did; whoever connected closes.
 * @throws StartupError that names where to and the remedy, never a password.
 */
export async function openDataSource(dataSource: DataSource): Promise<boolean> {
  if (dataSource.isInitialized) return false
  adaptGivenDriver(dataSource)
  try {
    await initialize(dataSource)
    return true
  } catch (error) {
    throw describeOpening(error, dataSource.options)
  }
}

/** Attempts to open a database that is busy, and the milliseconds between two of them: five seconds together. */
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

/** What an application would have to know to ask for; each can be set otherwise. */
function defaultsFor(options: ConnectionOptions): Readonly<Record<string, unknown>> {
  if (options.type !== 'better-sqlite3') return SERVER_DEFAULTS[options.type] ?? {}
  if (!options.database) throw noDatabase()
  // TypeORM itself makes the parent folder and switches foreign keys on.
  return { timeout: 5000, enableWAL: isFile(options.database) && !options.readonly }
}

/** Without it, a Date is written in local time and comes back as another moment when the time zone changes. */
const IN_UTC = { timezone: 'Z' }

const SERVER_DEFAULTS: Partial<Record<string, Readonly<Record<string, unknown>>>> = {
  // Without it, a server that swallows packets would hold the start for ever.
  postgres: { connectTimeoutMS: 10_000 },
  mysql: IN_UTC,
  mariadb: IN_UTC,
}

const isFile = (database: string): boolean => database !== ':memory:'

/** SQLite takes an empty name for a temporary database, which would lose everything without a word. */
function noDatabase(): StartupError {
  return new StartupError('The SQLite connection names no database.', {
    code: 'MORTAR_DATABASE_URL',
    remedy: `Set database: 'data/app.db', or ':memory:' for one that ends with the process.`,
    brick: 'database',
  })
}
