import type { DataSource } from 'typeorm'
import {
  type Brick,
  type CoreServices,
  defineBrick,
  type Environment,
  type Logger,
  type MigrationService,
  singleton,
} from 'mortar'
import { isCommand, type SideConnections, warnOfLongNumber } from 'mortar/kit'
import { addPoolGauges } from './compat/pool-gauges.ts'
import { findChangedInsides } from './compat/typeorm.ts'
import { checkDatabase } from './check-database.ts'
import { sideConnections } from './connections/side-connections.ts'
import { explainUnavailable } from './connections/unavailable.ts'
import { findChangedDriver, watchConnections } from './connections/watch-connections.ts'
import { createDataSource, openDataSource } from './drivers/data-source.ts'
import { gateTransactions } from './gate/gate-transactions.ts'
import type { MigrationClass } from './migrations/load-migrations.ts'
import { createMigrations, type Migrations } from './migrations/migrations.ts'
import { checkRefusal, refuseWrites } from './refuse-writes.ts'
import { describeDatabase } from './describe-database.ts'
import { databaseFindings } from './doctor.ts'
import { explainInvalidText, explainStatements } from './migrations/explain-statements.ts'
import { checkDatabaseOptions, checkDatabaseSettings, checkDatabaseSource, SETTINGS } from './option-rules.ts'
import type { ConnectionOptions, DatabaseSettings, DatabaseSource } from './options.ts'
import { checkPendingMigrations } from './migrations/pending-migrations.ts'
import { PROBLEMS } from './problems.ts'
import { warnOfDifferences } from './migrations/schema-differences.ts'
import { STARTUP_CODES, fault } from './startup-codes.ts'
import { databaseNeed } from './drivers/typeorm.ts'

/** Services of the brick: `db`, `migrations` for the command line and for tests, and `sideConnections` for bricks. */
export interface DatabaseServices {
  readonly db: DataSource
  readonly migrations: Migrations & MigrationService
  readonly sideConnections: SideConnections
}

/** Members that the brick adds to `ctx`. */
export interface DatabaseMembers {
  readonly db: DataSource
}

// Tells other bricks the types of the services, and policies those of the members.
declare module 'mortar' {
  interface KnownServices extends DatabaseServices {}
  interface KnownMembers extends DatabaseMembers {}
}

/**
 * The database brick: a TypeORM DataSource as `ctx.db` and as the service `db`. Accepts TypeORM's options, a
 * DataSource, or a function that returns either when the application starts. The brick connects at the start and closes
 * the connection at the stop. A DataSource that was connected before stays open.
 */
export function database(
  source: DatabaseSource,
  settings: DatabaseSettings = {},
): Brick<'database', DatabaseServices, DatabaseMembers> {
  checkDatabaseSettings(settings)
  checkDatabaseSource(source)
  const { connection, ...own } = split(source)
  const effective = { ...own, ...settings }
  /** DataSources that the brick has connected; it closes only these. One brick may serve several applications. */
  const opened = new WeakSet<DataSource>()
  return defineBrick({
    name: 'database',
    problems: PROBLEMS,
    explainError: (error) => explainUnavailable(error) ?? explainInvalidText(error),
    startupCodes: STARTUP_CODES,
    peers: databaseNeed(typeOf(connection)).peers,
    services: {
      db: singleton(() => toDataSource(connection)),
      sideConnections: singleton(() => sideConnections),
      migrations: singleton(({ db }) => ({ ...migrationsOf(db, effective), ...describeDatabase(db) })),
    },
    members: { db: ({ db }) => db },
    // The pool's own wait is longer than the time of a check, and ends by itself.
    checks: { db: ({ db }) => checkDatabase(db, effective) },
    middleware: ({ environment }) => (environment === 'production' ? [] : [explainStatements]),
    refuseWrites: ({ db }) => refuseWrites(db),
    start: async (services) => {
      const { db, environment, logger } = services
      // Only time limits are numbers.
      for (const [name, value] of Object.entries(effective)) warnOfLongNumber(name, value, logger)
      watchConnections(db, effective)
      reportStalls(db, effective, { environment, logger })
      if (await openDataSource(db)) opened.add(db)
      addPoolGauges(services.gauges, db)
      for (const change of [...findChangedInsides(db), ...findChangedDriver(db)])
        logger.warn({ brick: 'database' }, change)
      await closeOnFailure(services, opened, async () => {
        const status = () => services.migrations.status()
        await checkRefusal(db)
        const isCurrent =
          effective.migrate && !isCommand()
            ? await runMigrations(services)
            : await checkPendingMigrations({ db, environment, logger, status }, settingsOfStart(effective))
        if (isCurrent) await warnOfDifferences(db, { environment, logger })
      })
    },
    stop: async ({ db }) => {
      if (opened.delete(db) && db.isInitialized) await db.destroy()
    },
    doctor: (services) => databaseFindings(services, { migrate: effective.migrate === true }),
  })
}

type Connection = ConnectionOptions | DataSource | (() => ConnectionOptions | DataSource)

/** Separates the brick's own options from those of the connection. */
function split(source: DatabaseSource): DatabaseSettings & { readonly connection: Connection } {
  if (typeof source === 'function' || isDataSource(source)) return { connection: source }
  checkDatabaseOptions(source)
  const entries = Object.entries(source).filter(([, value]) => value !== undefined)
  const own = entries.filter(([name]) => Object.hasOwn(SETTINGS, name))
  const connection = entries.filter(([name]) => !Object.hasOwn(SETTINGS, name))
  // The checks above have compared both with the types.
  return { ...Object.fromEntries(own), connection: Object.fromEntries(connection) as never }
}

/** Returns the kind of database whose driver TypeORM loads, if it is known before the start. */
function typeOf(connection: Connection): string | undefined {
  if (typeof connection === 'function' || isDataSource(connection)) return undefined
  return 'driver' in connection && connection.driver ? undefined : connection.type
}

/** Checks the shape and not the class, because an application may have another copy of TypeORM. */
function isDataSource(source: object): source is DataSource {
  return 'initialize' in source && 'driver' in source
}

function toDataSource(connection: Connection): DataSource {
  const given = typeof connection === 'function' ? connection() : connection
  return isDataSource(given) ? given : createDataSource(given)
}

/**
 * Returns the migrations of the option, else the classes of the DataSource. Without either, using the service throws.
 */
function migrationsOf(db: DataSource, { migrations, lockTimeout }: DatabaseSettings): Migrations {
  const classes = Object.values(db.options.migrations ?? {}).filter((given) => typeof given === 'function')
  if (migrations || classes.length > 0)
    return createMigrations(db, {
      directory: migrations ?? (classes as unknown as MigrationClass[]),
      ...(lockTimeout !== undefined && { lockTimeout }),
    })
  const refuse = async (): Promise<never> => {
    throw fault('MORTAR_MIGRATIONS_FOLDER', `The brick 'database' has no folder of migrations.`, {
      remedy: `Add the option migrations: join(import.meta.dirname, 'migrations').`,
    })
  }
  return { generate: refuse, run: refuse, plan: refuse, revert: refuse, fresh: refuse, status: refuse }
}

function reportStalls(
  db: DataSource,
  { transactionWarning, busyTimeout }: DatabaseSettings,
  { environment, logger }: { environment: Environment; logger: Logger },
): void {
  gateTransactions(db, {
    warn: (message) => logger.warn({ brick: 'database' }, message),
    findSelfWaits: environment !== 'production' || ASYNC_CONTEXT_IS_FREE,
    ...(transactionWarning !== undefined && { warnAfter: transactionWarning }),
    ...(busyTimeout !== undefined && { busyTimeout }),
  })
}

/** Since Node 24 `AsyncLocalStorage` no longer slows promises. */
const ASYNC_CONTEXT_IS_FREE = Number(process.versions.node.split('.')[0]) >= 24

/** Closes the connection immediately on an error, because no stop follows a failed start. */
async function closeOnFailure(
  { db }: DatabaseServices,
  opened: WeakSet<DataSource>,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (opened.delete(db)) await db.destroy()
    throw error
  }
}

/** A command of an operator neither runs migrations nor fails because of them. */
function settingsOfStart(settings: DatabaseSettings): DatabaseSettings {
  return isCommand() ? { ...settings, pendingMigrations: 'warn' } : settings
}

async function runMigrations({ migrations, logger }: CoreServices & DatabaseServices): Promise<true> {
  const names = await migrations.run()
  if (names.length > 0) logger.info(`Migrations were run: ${names.join(', ')}`)
  return true
}
