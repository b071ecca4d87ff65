import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { DataSource, DataSourceOptions, QueryRunner } from 'typeorm'
import type { StartupError } from 'mortar'
import { limitsOf, watchConnections } from '../connections/watch-connections.ts'
import { typeorm } from '../drivers/typeorm.ts'
import { restoreAfter } from '../restore-after.ts'
import { fault } from '../startup-codes.ts'

/** Seconds to wait for another process that is running migrations, and milliseconds between two attempts. */
const PATIENCE = 60
const PAUSE = 200

/**
 * Runs work while no other process runs migrations on the same database. PostgreSQL, MariaDB and MySQL have advisory
 * locks; SQLite has no such lock: there, each migration's transaction acquires the write lock.
 * @throws StartupError if another process does not finish within a minute.
 */
export async function withMigrationLock<T>(
  dataSource: DataSource,
  runner: QueryRunner,
  work: () => Promise<T>,
): Promise<T> {
  const lock = LOCKS[dataSource.options.type]
  return lock === undefined ? work() : lock(dataSource, runner, work)
}

type Lock = <T>(dataSource: DataSource, runner: QueryRunner, work: () => Promise<T>) => Promise<T>

/**
 * Holds the lock in an open transaction on a connection of its own. A lock of the session would stay behind in a pooler
 * such as PgBouncer, which gives the next statement another session. It asks repeatedly, because a statement that waits
 * for the lock would block `CREATE INDEX CONCURRENTLY` in the process that has it.
 */
const inTransaction: Lock = async (dataSource, runner, work) => {
  const name = await nameOf(dataSource, runner)
  const own = await openOwnConnection(dataSource)
  try {
    return await own.transaction(async (manager) => {
      // It ends with the transaction.
      await manager.query('SET LOCAL idle_in_transaction_session_timeout = 0')
      const ask = async (): Promise<boolean> => {
        // A parameter would leave a snapshot open, for which `CREATE INDEX CONCURRENTLY` waits.
        const rows: { taken: boolean }[] = await manager.query(
          `SELECT pg_try_advisory_xact_lock(hashtextextended('${name}', 0)) AS taken`,
        )
        return rows[0]!.taken
      }
      await untilTaken(ask)
      return work()
    })
  } finally {
    await own.destroy()
  }
}

async function untilTaken(ask: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE * 1000
  while (!(await ask())) {
    if (performance.now() > end) throw locked()
    await wait(PAUSE)
  }
}

/**
 * A second connection of the same pool could be missing, because a pool may have a single one. It is watched too: it could
 * die while a long migration runs, and its ROLLBACK would then wait forever.
 */
function openOwnConnection(source: DataSource): Promise<DataSource> {
  const changesNothing = { synchronize: false, dropSchema: false }
  const own = {
    ...source.options,
    ...changesNothing,
    entities: [],
    subscribers: [],
    migrations: [],
    poolSize: 1,
  }
  const beside = new typeorm.DataSource(own as DataSourceOptions)
  watchConnections(beside, limitsOf(source))
  return beside.initialize()
}

const ofSession: Lock = async (dataSource, runner, work) => {
  const name = await nameOf(dataSource, runner)
  const rows: { taken: unknown }[] = await runner.query('SELECT GET_LOCK(?, ?) AS taken', [name, PATIENCE])
  if (Number(rows[0]?.taken) !== 1) throw locked()
  return restoreAfter(work, () => runner.query('SELECT RELEASE_LOCK(?)', [name]))
}

const LOCKS: Partial<Record<string, Lock>> = { postgres: inTransaction, mysql: ofSession, mariadb: ofSession }

/** MySQL's locks belong to the server, so the database is part of the name, which has at most 64 characters. */
async function nameOf(dataSource: DataSource, runner: QueryRunner): Promise<string> {
  const { schema = '' } = dataSource.options as { schema?: string }
  const table = dataSource.options.migrationsTableName ?? 'migrations'
  const place = [await runner.getCurrentDatabase(), schema, table].join('/')
  return `mortar:${createHash('sha256').update(place).digest('hex').slice(0, 32)}`
}

function locked(): StartupError {
  return fault(
    'MORTAR_MIGRATION_LOCKED',
    `Another process has been running migrations on this database for ${PATIENCE} s.`,
    { remedy: 'Wait until that process ends, or stop it, and then start again.' },
  )
}
