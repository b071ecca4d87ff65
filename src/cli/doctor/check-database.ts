import type { Inspection } from '../../app/app.ts'
import type { Authenticator } from '../../contracts/authenticator.ts'
import type { MigrationService } from '../../contracts/migrations.ts'
import { isMigrationService } from '../project/migration-service.ts'
import { type Finding, finding, findingsOf } from './finding.ts'

/**
 * The schema module, and how the database stands to it. The database is opened only when `connect` is true, closed
 * again, and nothing in it is changed; one that does not exist is not made.
 */
export async function checkDatabase(
  { serviceNames, services }: Pick<Inspection, 'serviceNames' | 'services'>,
  connect: boolean,
): Promise<Finding[]> {
  const migrations = serviceNames.includes('migrations') ? services['migrations'] : undefined
  if (!isMigrationService(migrations)) return []
  const authenticator = serviceNames.includes('authenticator')
    ? (services['authenticator'] as Authenticator)
    : undefined
  const schema = checkTables(migrations.tables(), authenticator?.tables ?? [])
  return connect ? [...schema, ...(await lookInside(migrations))] : schema
}

function checkTables(present: readonly string[] | undefined, needed: readonly string[]): Finding[] {
  const missing = present === undefined ? [] : needed.filter((table) => !present.includes(table))
  if (missing.length === 0) return []
  return [
    finding(
      'error',
      'MORTAR_DOCTOR_TABLES',
      `The schema module lacks tables that authentication works on: ${missing.join(', ')}.`,
      "Write `export * from 'mortar/auth/basic/schema'` in it, then generate and run a migration.",
    ),
  ]
}

async function lookInside(migrations: MigrationService): Promise<Finding[]> {
  const file = migrations.missingFile()
  if (file !== undefined)
    return [
      finding(
        'warning',
        'MORTAR_DOCTOR_DATABASE_FILE',
        `The database ${file} does not exist yet.`,
        'Make it: mortar migrate run',
      ),
    ]
  try {
    return await migrations.connected(() => checkMigrations(migrations))
  } catch (error) {
    return findingsOf(error)
  }
}

async function checkMigrations(migrations: MigrationService): Promise<Finding[]> {
  const states = await migrations.status()
  const named = (wanted: string): string[] =>
    states.filter(({ state }) => state === wanted).map(({ name }) => name)
  const [pending, missing] = [named('pending'), named('missing')]
  const found = [
    ...(pending.length > 0 ? [notRun(pending)] : []),
    ...(missing.length > 0 ? [gone(missing)] : []),
  ]
  if (found.length > 0 || (await migrations.difference()) === 0) return found
  return [
    finding(
      'warning',
      'MORTAR_DOCTOR_SCHEMA',
      'The database is not what the schema module describes, and no migration is pending.',
      "Let one be written from the difference: mortar migrate generate 'what changed'",
    ),
  ]
}

function notRun(names: readonly string[]): Finding {
  const found = `Migrations were not run on this database: ${names.join(', ')}.`
  return finding('error', 'MORTAR_DOCTOR_MIGRATIONS', found, 'Run them: mortar migrate run')
}

function gone(names: readonly string[]): Finding {
  const found = `Migrations were run on this database and their files are gone: ${names.join(', ')}.`
  return finding('error', 'MORTAR_DOCTOR_MIGRATIONS', found, 'Bring the files back from version control.')
}
