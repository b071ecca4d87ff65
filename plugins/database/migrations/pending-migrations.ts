import type { DataSource } from 'typeorm'
import { type Environment, type Logger, type MigrationState, StartupError } from 'mortar'
import type { DatabaseSettings, PendingMigrations } from '../options.ts'
import { fault } from '../startup-codes.ts'

/** In a test, an application often makes its tables itself. */
const DEFAULTS: Readonly<Record<Environment, PendingMigrations>> = {
  production: 'stop',
  development: 'warn',
  test: 'ignore',
}

/** The start of an application, as far as its migrations are concerned. */
export interface StartOfMigrations {
  readonly db: DataSource
  readonly environment: Environment
  readonly logger: Logger
  readonly status: () => Promise<readonly MigrationState[]>
}

/**
 * Checks that the database has the tables that this code expects. Migrations of newer code do not matter: after a
 * roll-back, or while a newer version is being deployed, they are applied and unknown here. A missing folder is only
 * logged, because some images do not contain it.
 * @returns false after a warning.
 * @throws StartupError that names the pending migrations, in production.
 */
export async function checkPendingMigrations(
  { db, environment, logger, status }: StartOfMigrations,
  { migrations, pendingMigrations = DEFAULTS[environment] }: DatabaseSettings,
): Promise<boolean> {
  if (pendingMigrations === 'ignore' || db.options.synchronize || !hasMigrations(db, migrations)) return true
  const error = await findPending(status)
  if (error === undefined) return true
  // A misspelt value stops as well.
  if (pendingMigrations !== 'warn' && error.code !== 'MORTAR_MIGRATIONS_FOLDER') throw error
  logger.warn({ brick: 'database' }, error.message)
  return false
}

function hasMigrations({ options }: DataSource, migrations: unknown): boolean {
  return migrations !== undefined || Object.values(options.migrations ?? {}).length > 0
}

async function findPending(read: StartOfMigrations['status']): Promise<StartupError | undefined> {
  const states = await read().catch((error: unknown) => {
    if (error instanceof StartupError && error.code === 'MORTAR_MIGRATIONS_FOLDER') return error
    throw error
  })
  if (states instanceof StartupError) return states
  const pending = states.filter(({ state }) => state === 'pending').map(({ name }) => name)
  if (pending.length === 0) return undefined
  const were = pending.length === 1 ? 'This migration was' : `These ${pending.length} migrations were`
  return fault('MORTAR_MIGRATION_PENDING', `${were} not run on the database: ${pending.join(', ')}.`, {
    remedy:
      `Run: npx mortar migrate run. Or write migrate: true, which runs them at the start, or ` +
      `pendingMigrations: 'warn' if this code also works without them.`,
  })
}
