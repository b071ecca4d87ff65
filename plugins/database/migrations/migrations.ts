import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DataSource, QueryRunner } from 'typeorm'
import type { Clock, Duration, MigrationProgress, PlannedMigration, PlanOptions, StartupError } from 'mortar'
import { errorCode, seconds, systemClock } from 'mortar/kit'
import { changeStatements } from '../gate/change-statements.ts'
import { gateTransactions } from '../gate/gate-transactions.ts'
import { type LoadedMigration, loadMigrations, type MigrationSource, toFolder } from './load-migrations.ts'
import { keepReferences, type MigrationStatements, nameMigration, renderMigration } from './migration-file.ts'
import { missingFile } from '../describe-database.ts'
import { MigrationHistory } from './migration-history.ts'
import { withoutStatementLimit } from '../connections/lift-statement-limit.ts'
import { withMigrationLock } from './migration-lock.ts'
import { planMigrations } from '../plan/plan-migrations.ts'
import { limitLocksOfSession } from '../lock-timeout.ts'
import {
  applyMigration,
  isSqlite,
  type MigrationRun,
  prepareHistory,
  revertMigration,
} from './run-migration.ts'
import { fault } from '../startup-codes.ts'
import { withRunner } from '../with-runner.ts'

/** One migration and its state in the database; `missing` was run, but its class no longer exists. */
export interface MigrationStatus {
  readonly name: string
  readonly state: 'applied' | 'pending' | 'missing'
}

/** A migration file that was written. */
export interface GeneratedMigration extends MigrationStatements {
  readonly name: string
  readonly file: string
}

/** Operations on the migrations of one connected database. */
export interface Migrations {
  /**
   * Writes a migration file from the difference between the database and the entities.
   * @returns undefined if there is no difference.
   * @throws StartupError while migrations are pending, because they would be generated a second time.
   */
  generate(name: string): Promise<GeneratedMigration | undefined>
  /**
   * Runs the pending migrations, oldest first, each in a transaction; calls `done` after each. @returns their names.
   */
  run(done?: MigrationProgress): Promise<string[]>
  /** The statements of the pending migrations, with warnings of locks. Changes nothing. */
  plan(options?: PlanOptions): Promise<PlannedMigration[]>
  /** Reverts the migration that was run last. @returns its name, or undefined if no migration was run. */
  revert(): Promise<string | undefined>
  /** Drops every table of the database and runs all migrations. @returns their names. */
  fresh(done?: MigrationProgress): Promise<string[]>
  /** All migrations, oldest first. Changes nothing, and does not make a SQLite file that is missing. */
  status(): Promise<MigrationStatus[]>
}

/** Source of migrations: a folder (absolute path or `file:` URL), or the classes themselves. */
export interface MigrationOptions {
  readonly directory: MigrationSource
  readonly clock?: Clock
  /** Longest wait for one lock of a table; seconds or `'5s'`, by default 5 s. 0 waits without a limit. */
  readonly lockTimeout?: Duration
}

/** Manages the migrations of a DataSource in this process, without TypeORM's command. */
export function createMigrations(dataSource: DataSource, options: MigrationOptions): Migrations {
  const { directory, clock = systemClock } = options
  const lockTimeout = Math.ceil(seconds(options.lockTimeout ?? 5) * 1000)
  const limited = { dataSource, lockTimeout }
  gateTransactions(dataSource)
  const runAll = (done: MigrationProgress = () => undefined): Promise<string[]> =>
    withRun(limited, async (run) => runPending(run, await loadMigrations(directory), done))
  const status = async (): Promise<MigrationStatus[]> => {
    const isNew = !dataSource.isInitialized && missingFile(dataSource) !== undefined
    if (isNew) return toStates(await loadMigrations(directory), [])
    return await withRunner(dataSource, async (runner) => statusOf(dataSource, runner, directory))
  }
  return {
    generate: (name) => generate(dataSource, { directory, clock }, name),
    run: runAll,
    async fresh(done) {
      // Read the folder first, so that an unreadable folder does not lose the tables.
      await loadMigrations(directory)
      await dataSource.dropDatabase()
      return runAll(done)
    },
    revert: () => withRun(limited, async (run) => revertLast(run, await loadMigrations(directory))),
    status,
    plan: async (plan = {}) => {
      const states = await status()
      const isPending = (name: string): boolean =>
        states.some((each) => each.name === name && each.state === 'pending')
      const migrations = (await loadMigrations(directory)).filter(({ name }) => isPending(name))
      return planMigrations(dataSource, migrations, plan)
    },
  }
}

async function generate(
  dataSource: DataSource,
  { directory, clock }: { readonly directory: MigrationSource; readonly clock: Clock },
  name: string,
): Promise<GeneratedMigration | undefined> {
  if (typeof directory !== 'string' && !(directory instanceof URL)) throw noFolder()
  const folder = toFolder(directory)
  // Checks the name before anything is written.
  const namesAt = nameMigration(name)
  await mkdir(folder, { recursive: true })
  const known = await loadMigrations(folder)
  await refusePending(dataSource, directory)
  const timestamp = Math.max(clock.now(), (known.at(-1)?.timestamp ?? 0) + 1)
  const { className, fileName } = namesAt(timestamp)
  const statements = await difference(dataSource)
  if (statements.up.length === 0) return undefined
  const file = join(folder, fileName)
  await writeNew(file, renderMigration(className, statements))
  return { name: className, file, ...statements }
}

/** Writes a file that does not exist yet. A full disk leaves no part of it, which would be run as a migration. */
async function writeNew(file: string, content: string): Promise<void> {
  try {
    await writeFile(file, content, { flag: 'wx' })
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') await rm(file, { force: true })
    // Node does not name the file of a failed write.
    throw Object.assign(error as Error, { path: file })
  }
}

/** Computes the statements that make the database match the entities, and those that revert them. */
async function difference(dataSource: DataSource): Promise<MigrationStatements> {
  const { up, down } = await changeStatements(dataSource)
  if (!isSqlite(dataSource)) return { up, down }
  return { up: keepReferences(up), down: keepReferences(down) }
}

async function refusePending(dataSource: DataSource, directory: MigrationSource): Promise<void> {
  const all = await withRunner(dataSource, (runner) => statusOf(dataSource, runner, directory))
  const pending = all.filter(({ state }) => state === 'pending').map(({ name }) => name)
  if (pending.length > 0)
    throw fault(
      'MORTAR_MIGRATION_PENDING',
      `These migrations were not run on this database: ${pending.join(', ')}.`,
      {
        remedy:
          'Run them first: npx mortar migrate run. A new migration is generated from the difference between the database and the entities.',
      },
    )
}

async function runPending(
  run: MigrationRun,
  migrations: readonly LoadedMigration[],
  report: MigrationProgress,
): Promise<string[]> {
  const done = new Set(await run.history.names())
  const ran: string[] = []
  for (const migration of migrations)
    if (!done.has(migration.name) && (await applyMigration(run, migration))) {
      ran.push(migration.name)
      report(migration.name)
    }
  return ran
}

async function revertLast(
  run: MigrationRun,
  migrations: readonly LoadedMigration[],
): Promise<string | undefined> {
  const [last] = await run.history.names()
  if (last === undefined) return undefined
  const migration = migrations.find(({ name }) => name === last)
  if (!migration)
    throw fault(
      'MORTAR_MIGRATION_MISSING',
      `The migration ${last} was run on this database, but is not among the migrations.`,
      { remedy: 'Restore its file from version control, then revert it.' },
    )
  return (await revertMigration(run, migration)) ? last : undefined
}

async function statusOf(
  dataSource: DataSource,
  runner: QueryRunner,
  directory: MigrationSource,
): Promise<MigrationStatus[]> {
  const migrations = await loadMigrations(directory)
  return toStates(migrations, await new MigrationHistory(dataSource, runner).names())
}

function toStates(migrations: readonly LoadedMigration[], done: readonly string[]): MigrationStatus[] {
  const known = new Set(migrations.map(({ name }) => name))
  const missing = done.filter((name) => !known.has(name)).toReversed()
  return [
    ...missing.map((name) => ({ name, state: 'missing' as const })),
    ...migrations.map(({ name }) => ({
      name,
      state: done.includes(name) ? ('applied' as const) : ('pending' as const),
    })),
  ]
}

/** Runs work while no other process migrates, after creating the table of applied migrations. */
function withRun<T>(
  { dataSource, lockTimeout }: Pick<MigrationRun, 'dataSource' | 'lockTimeout'>,
  work: (run: MigrationRun) => Promise<T>,
): Promise<T> {
  return withRunner(dataSource, (runner) =>
    withoutStatementLimit(dataSource, runner, () =>
      withMigrationLock(dataSource, runner, async () => {
        const run = { dataSource, runner, lockTimeout, history: new MigrationHistory(dataSource, runner) }
        await prepareHistory(run)
        return limitLocksOfSession(run, () => work(run))
      }),
    ),
  )
}

function noFolder(): StartupError {
  return fault(
    'MORTAR_MIGRATIONS_FOLDER',
    'The migrations were given as classes, so there is no folder for a new migration.',
    {
      remedy: 'Give the folder instead of the classes: migrations: join(import.meta.dirname, "migrations").',
    },
  )
}
