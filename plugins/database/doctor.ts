import type { DataSource } from 'typeorm'
import type { DoctorFinding, DoctorLevel, MigrationService } from 'mortar'
import { kindOf } from 'mortar/kit'
import { describeDifferences, DIFFERENCE_REMEDY, schemaDifferences } from './migrations/schema-differences.ts'
import type { STARTUP_CODES } from './startup-codes.ts'
import { tablesInLocalTime } from './columns/local-time.ts'
import { unknownTables } from './failures/unknown-tables.ts'

/**
 * The findings of the database brick for `mortar doctor`: the file, the migrations and the schema. It opens the
 * database, closes it again and changes nothing in it; a missing file is not created.
 * @throws StartupError when the database cannot be opened.
 */
export async function databaseFindings(
  { db, migrations }: { readonly db: DataSource; readonly migrations: MigrationService },
  { migrate }: { readonly migrate: boolean },
): Promise<readonly DoctorFinding[]> {
  const file = migrations.missingFile()
  if (file === undefined) return migrations.connected(() => checkMigrations(db, migrations, migrate))
  const found = await withoutMigrations(db, migrations)
  // The start creates the file.
  if (migrate || found.length > 0) return found
  return [
    finding(
      'warning',
      'MORTAR_DOCTOR_DATABASE_FILE',
      `The database ${file} does not exist yet.`,
      'Create it: npx mortar migrate run',
    ),
  ]
}

/** Finds entities whose tables no migration makes. With a database, `differing` finds them. */
async function withoutMigrations(
  { options }: DataSource,
  migrations: MigrationService,
): Promise<DoctorFinding[]> {
  const tables = migrations.tables() ?? []
  // Without a folder of migrations, the application makes its tables in another way.
  const states = await migrations.status().catch(() => undefined)
  if (options.synchronize || tables.length === 0 || states?.length !== 0) return []
  const found = `No migration makes the tables of the entities: ${tables.join(', ')}.`
  return [finding('warning', 'MORTAR_DOCTOR_SCHEMA', found, 'Generate one: npx mortar migrate generate init')]
}

async function checkMigrations(
  db: DataSource,
  migrations: MigrationService,
  migrate: boolean,
): Promise<readonly DoctorFinding[]> {
  const states = await migrations.status()
  const named = (wanted: string): string[] =>
    states.filter(({ state }) => state === wanted).map(({ name }) => name)
  const [pending, missing] = [named('pending'), named('missing')]
  const found = [
    ...(pending.length > 0 && !migrate ? [notRun(pending)] : []),
    ...(missing.length > 0 ? [gone(missing)] : []),
  ]
  const narrow = await inNarrowCharset(db)
  if (found.length > 0 || pending.length > 0) return [...found, ...narrow]
  return [
    ...narrow,
    ...(await differing(db)),
    ...(await inLocalTime(db, named('applied'))),
    ...(await unknown(db)),
  ]
}

/** New tables of MariaDB and MySQL have the character set of the database, which may be latin1. */
async function inNarrowCharset(db: DataSource): Promise<DoctorFinding[]> {
  if (kindOf(db) !== 'mysql') return []
  const [row] = await db.query<{ charset: string }[]>('SELECT @@character_set_database AS charset')
  if (row!.charset === 'utf8mb4') return []
  const found = `New tables have the character set ${row!.charset}, which lacks characters of names, such as '😀'.`
  const remedy =
    'Run ALTER DATABASE CHARACTER SET utf8mb4 before the first migration, and change the columns of existing tables by a migration.'
  return [finding('warning', 'MORTAR_DOCTOR_SCHEMA', found, remedy)]
}

async function differing(db: DataSource): Promise<DoctorFinding[]> {
  const differences = await schemaDifferences(db)
  if (differences.length === 0) return []
  const found = `${describeDifferences(differences)} No migration is pending.`
  return [finding('warning', 'MORTAR_DOCTOR_SCHEMA', found, DIFFERENCE_REMEDY)]
}

async function inLocalTime(db: DataSource, applied: readonly string[]): Promise<DoctorFinding[]> {
  const tables = await tablesInLocalTime(db, applied)
  if (tables.length === 0) return []
  const found = `Tables may have dates in local time, from a version before all dates were in UTC: ${tables.join(', ')}.`
  const remedy = `Rewrite them by a migration whose name ends in InUtc, as docs/database.md shows. If all rows were written in UTC, leave it empty.`
  return [finding('warning', 'MORTAR_DOCTOR_LOCAL_TIME', found, remedy)]
}

/** Most unknown tables that a finding names. */
const MOST_NAMED = 20

/** A note only: another program may own such a table. */
async function unknown(db: DataSource): Promise<DoctorFinding[]> {
  const tables = await unknownTables(db)
  if (tables.length === 0) return []
  const rest = tables.length > MOST_NAMED ? ` and ${tables.length - MOST_NAMED} more` : ''
  const found = `The database has tables that no entity describes: ${tables.slice(0, MOST_NAMED).join(', ')}${rest}.`
  const remedy =
    'Add an entity for a table of this application, or drop a table of an earlier version by a migration.'
  return [finding('note', 'MORTAR_DOCTOR_UNKNOWN_TABLES', found, remedy)]
}

function notRun(names: readonly string[]): DoctorFinding {
  const found = `Migrations were not run on this database: ${names.join(', ')}.`
  return finding('error', 'MORTAR_DOCTOR_MIGRATIONS', found, 'Run them: npx mortar migrate run')
}

function gone(names: readonly string[]): DoctorFinding {
  const found = `Migrations were run on this database, but their files are missing: ${names.join(', ')}.`
  return finding('error', 'MORTAR_DOCTOR_MIGRATIONS', found, 'Restore the files from version control.')
}

function finding(
  level: DoctorLevel,
  code: keyof typeof STARTUP_CODES,
  found: string,
  remedy: string,
): DoctorFinding {
  return { level, code, found, remedy, page: 'docs/startup-errors.md' }
}
