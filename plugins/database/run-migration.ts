import type { DataSource, QueryRunner } from 'typeorm'
import { StartupError } from '../../src/index.ts'
import type { LoadedMigration } from './load-migrations.ts'
import type { MigrationHistory } from './migration-history.ts'

/** Parameters of one step. */
export interface MigrationRun {
  readonly dataSource: DataSource
  readonly runner: QueryRunner
  readonly history: MigrationHistory
}

/**
 * Runs a migration and records it, in one transaction unless it declares `transaction = false`.
 * @returns false if another process has run it in the meantime.
 * @throws StartupError that names the migration. Its changes are rolled back if the database supports that.
 */
export function applyMigration(run: MigrationRun, migration: LoadedMigration): Promise<boolean> {
  return step(run, migration, async () => {
    if ((await run.history.names()).includes(migration.name)) return false
    await migration.instance.up(run.runner)
    await run.history.add(migration)
    return true
  })
}

/** Reverts a migration and removes its record. */
export function revertMigration(run: MigrationRun, migration: LoadedMigration): Promise<boolean> {
  return step(run, migration, async () => {
    if ((await run.history.names())[0] !== migration.name) return false
    await migration.instance.down(run.runner)
    await run.history.remove(migration)
    return true
  })
}

async function step(
  { dataSource, runner }: MigrationRun,
  migration: LoadedMigration,
  work: () => Promise<boolean>,
): Promise<boolean> {
  // Switch foreign keys off before the transaction, because SQLite ignores the pragma inside. Otherwise rebuilding a
  // table would delete the rows that refer to it.
  await runner.beforeMigration()
  try {
    if (migration.instance.transaction === false) return await work()
    return await inTransaction(runner, async () => {
      const done = await work()
      if (isSqlite(dataSource)) await checkForeignKeys(runner)
      return done
    })
  } catch (error) {
    throw failure(migration, error)
  } finally {
    // Restore the default, because the migration may have failed before it switched the pragma off.
    if (isSqlite(dataSource)) await runner.query('PRAGMA legacy_alter_table = OFF')
    await runner.afterMigration()
  }
}

export const isSqlite = ({ options }: DataSource): boolean => options.type === 'better-sqlite3'

/** Runs work in a transaction of this runner; an error is thrown again after the rollback. */
export async function inTransaction<T>(runner: QueryRunner, work: () => Promise<T>): Promise<T> {
  await runner.startTransaction()
  try {
    const result = await work()
    await runner.commitTransaction()
    return result
  } catch (error) {
    // The error of a failed rollback adds no information.
    await runner.rollbackTransaction().catch(() => undefined)
    throw error
  }
}

/** Checks foreign keys afterwards, because nothing enforces them while they are off (sqlite.org/lang_altertable). */
async function checkForeignKeys(runner: QueryRunner): Promise<void> {
  const broken = (await runner.query('PRAGMA foreign_key_check')) as { table: string; parent: string }[]
  const [first] = broken
  if (first)
    throw new Error(
      `${broken.length} rows would refer to missing rows, the first one from ${first.table} to ${first.parent}`,
    )
}

function failure({ name, origin }: LoadedMigration, error: unknown): StartupError {
  const reason = error instanceof Error ? error.message : String(error)
  return new StartupError(`The migration ${name} failed: ${reason}`, {
    code: 'MORTAR_MIGRATION_FAILED',
    remedy:
      `Correct ${origin === 'a class' ? 'it' : origin} and run it again. It is rolled back; ` +
      'MariaDB and MySQL keep the changes of tables that preceded the failure.',
    files: origin === 'a class' ? [] : [origin],
    brick: 'database',
    cause: error,
  })
}
