import type { StartupError, Cradle } from 'mortar'
import { MissingColumn, MissingTable } from '../errors.ts'
import { createRun, type DataSourceLike } from './sql.ts'
import { fault } from '../startup-codes.ts'

/**
 * Checks every column that was added after the first version of the tables, without reading a row. The endpoints report
 * missing tables.
 * @throws StartupError `MORTAR_AUTH_SCHEMA` for a database of an earlier version, with the migrations that are pending.
 */
export async function checkColumns(source: DataSourceLike, services: Cradle): Promise<void> {
  const run = createRun(() => source)
  try {
    await run('select disabled_at from auth_users where 1 = 0', [])
    await run('select password_version from auth_reset_tokens where 1 = 0', [])
  } catch (error) {
    if (error instanceof MissingTable) return
    if (error instanceof MissingColumn) throw outdated(error, await pendingMigrations(services))
    throw error
  }
}

function outdated(cause: MissingColumn, pending: readonly string[]): StartupError {
  const found = `The tables of basicAuth() have no column ${cause.column}.`
  return fault(
    'MORTAR_AUTH_SCHEMA',
    pending.length > 0 ? `${found} Pending migrations: ${pending.join(', ')}.` : found,
    {
      remedy:
        pending.length > 0
          ? 'Run them: npx mortar migrate run.'
          : 'Generate a migration and run it: npx mortar migrate generate AuthColumns, npx mortar migrate run.',
      cause,
    },
  )
}

/** The part of the database brick's service `migrations` that this check uses. */
interface MigrationsLike {
  status(): Promise<readonly { readonly name: string; readonly state: string }[]>
}

async function pendingMigrations(services: Cradle): Promise<readonly string[]> {
  if (!Object.hasOwn(services, 'migrations')) return []
  const migrations = services['migrations'] as MigrationsLike
  // Without a folder of migrations the service throws; the remedy is then to generate a migration.
  const all = await migrations.status().catch(() => [])
  return all.filter(({ state }) => state === 'pending').map(({ name }) => name)
}
