import { createHash } from 'node:crypto'
import type { DataSource, QueryRunner } from 'typeorm'
import { StartupError } from '../../src/index.ts'

/** Seconds to wait for another process that is running migrations. */
const PATIENCE = 60

interface Lock {
  readonly take: (runner: QueryRunner, name: string) => Promise<boolean>
  readonly free: (runner: QueryRunner, name: string) => Promise<unknown>
}

/**
 * Runs work while no other process runs migrations on the same database. On PostgreSQL, MariaDB and MySQL that is an
 * advisory lock of the runner's session; SQLite has no such lock; there, each migration's transaction acquires the
 * write lock.
 * @throws StartupError if another process does not finish within a minute.
 */
export async function withMigrationLock<T>(
  dataSource: DataSource,
  runner: QueryRunner,
  work: () => Promise<T>,
): Promise<T> {
  const lock = LOCKS[dataSource.options.type]
  if (!lock) return work()
  const name = await nameOf(dataSource, runner)
  if (!(await lock.take(runner, name))) throw locked()
  try {
    return await work()
  } finally {
    await lock.free(runner, name)
  }
}

const postgres: Lock = {
  async take(runner, name) {
    await runner.query(`SET lock_timeout = '${PATIENCE}s'`)
    try {
      await runner.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [name])
      return true
    } catch (error) {
      if ((error as { code?: unknown }).code === LOCK_NOT_AVAILABLE) return false
      throw error
    } finally {
      await runner.query('RESET lock_timeout')
    }
  },
  free: (runner, name) => runner.query('SELECT pg_advisory_unlock(hashtextextended($1, 0))', [name]),
}

/** PostgreSQL's error code after `lock_timeout`. */
const LOCK_NOT_AVAILABLE = '55P03'

const mysql: Lock = {
  async take(runner, name) {
    const [row] = (await runner.query('SELECT GET_LOCK(?, ?) AS taken', [name, PATIENCE])) as {
      taken: unknown
    }[]
    return Number(row?.taken) === 1
  },
  free: (runner, name) => runner.query('SELECT RELEASE_LOCK(?)', [name]),
}

const LOCKS: Partial<Record<string, Lock>> = { postgres, mysql, mariadb: mysql }

/** MySQL's locks belong to the server, so the database is part of the name, which has at most 64 characters. */
async function nameOf(dataSource: DataSource, runner: QueryRunner): Promise<string> {
  const { schema = '' } = dataSource.options as { schema?: string }
  const table = dataSource.options.migrationsTableName ?? 'migrations'
  const place = [await runner.getCurrentDatabase(), schema, table].join('/')
  return `mortar:${createHash('sha256').update(place).digest('hex').slice(0, 32)}`
}

function locked(): StartupError {
  return new StartupError(`Another process has been running migrations on this database for ${PATIENCE} s.`, {
    code: 'MORTAR_MIGRATION_LOCKED',
    remedy: 'Wait until that process ends, or stop it, and then start again.',
    brick: 'database',
  })
}
