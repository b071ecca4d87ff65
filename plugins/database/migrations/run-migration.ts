import type { DataSource, QueryRunner } from 'typeorm'
import type { StartupError } from 'mortar'
import { unavailabilityOf } from '../connections/unavailable.ts'
import type { LoadedMigration } from './load-migrations.ts'
import {
  ATTEMPTS,
  isBlocked,
  keepsTables,
  runAtomically,
  runStepwise,
  type LimitedRun,
} from '../lock-timeout.ts'
import type { MigrationHistory } from './migration-history.ts'
import { inTransaction } from '../in-transaction.ts'
import { shorten } from '../sql-text.ts'
import { fault } from '../startup-codes.ts'

/** Parameters of one step. */
export interface MigrationRun extends LimitedRun {
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

/** Creates the table of applied migrations. @throws StartupError */
export async function prepareHistory(run: MigrationRun): Promise<void> {
  try {
    await runAtomically(run, () => run.history.prepare())
  } catch (error) {
    const place = 'the rights of the user of the database'
    throw failure('The table of migrations', { error, applied: [], place, ...run })
  }
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
  run: MigrationRun,
  migration: LoadedMigration,
  work: () => Promise<boolean>,
): Promise<boolean> {
  const { dataSource, runner } = run
  const applied: string[] = []
  // Switch foreign keys off before the transaction, because SQLite ignores the pragma inside. Otherwise rebuilding a
  // table would delete the rows that refer to it.
  await runner.beforeMigration()
  try {
    if (migration.instance.transaction === false) return await runStepwise(run, applied, work)
    if (keepsTables(dataSource)) return await runStepwise(run, applied, () => inTransaction(runner, work))
    return await runAtomically(run, async () => {
      const done = await work()
      if (isSqlite(dataSource)) await checkForeignKeys(runner)
      return done
    })
  } catch (error) {
    const { name, origin } = migration
    throw failure(`The migration ${name}`, {
      error,
      applied,
      ...run,
      ...(origin !== 'a class' && { file: origin }),
    })
  } finally {
    // Restore the default, because the migration may have failed before it switched the pragma off.
    if (isSqlite(dataSource)) await runner.query('PRAGMA legacy_alter_table = OFF')
    await runner.afterMigration()
  }
}

export const isSqlite = ({ options }: DataSource): boolean => options.type === 'better-sqlite3'

/** Checks foreign keys afterwards, because nothing enforces them while they are off (sqlite.org/lang_altertable). */
async function checkForeignKeys(runner: QueryRunner): Promise<void> {
  const broken = (await runner.query('PRAGMA foreign_key_check')) as { table: string; parent: string }[]
  const [first] = broken
  if (first)
    throw new Error(
      `${broken.length} rows would refer to missing rows, the first one from ${first.table} to ${first.parent}`,
    )
}

interface Failure extends MigrationRun {
  readonly error: unknown
  readonly applied: readonly string[]
  readonly file?: string
  /** The place to correct. */
  readonly place?: string
}

function failure(
  subject: string,
  { error, applied, lockTimeout, file, place = file ?? 'it' }: Failure,
): StartupError {
  const reason = error instanceof Error ? error.message : String(error)
  const blocked = isBlocked(error)
  const happened = blocked ? `did not get a lock within ${lockTimeout / 1000} s, ${ATTEMPTS} times` : 'failed'
  return fault(
    blocked ? 'MORTAR_MIGRATION_BLOCKED' : 'MORTAR_MIGRATION_FAILED',
    `${subject} ${happened}: ${reason}`,
    {
      remedy: `${blocked ? BLOCKED_REMEDY : correctionOf(error, place)} ${describeApplied(applied)}`,
      files: file === undefined ? [] : [file],
      cause: error,
    },
  )
}

const BLOCKED_REMEDY =
  'End the transactions that use its tables for long, such as a report or a backup, or increase lockTimeout of database(). Then run it again.'

const UNAVAILABLE_REMEDY =
  'Check that the database is reachable and writable, and has free space. Then run it again.'

function correctionOf(error: unknown, place: string): string {
  if (unavailabilityOf(error) === 'database_unavailable') return UNAVAILABLE_REMEDY
  const needsNone = (error as { readonly code?: unknown } | undefined)?.code === '25001'
  const how = needsNone
    ? 'This statement runs outside of transactions: add `readonly transaction = false` to'
    : 'Correct'
  return `${how} ${place}, and run it again.`
}

function describeApplied(applied: readonly string[]): string {
  if (applied.length === 0) return 'Nothing of it was applied.'
  const last = shorten(applied.at(-1)!)
  const which =
    applied.length === 1 ? 'One of its statements was' : `${applied.length} of its statements were`
  return `${which} applied and remain${applied.length === 1 ? 's' : ''}, the last one: ${last}. Undo or skip what was applied.`
}
