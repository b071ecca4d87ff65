import type { DataSource, QueryRunner } from 'typeorm'
import { restoreAfter } from '../restore-after.ts'
import { IS_MARIADB, statementLimit } from './mysql-session.ts'
import { statementTimeoutOf } from './watch-connections.ts'

/**
 * Runs work on a connection without the option `statementTimeout`: the statement of a migration that builds an index
 * may take hours. Restores the limit afterwards.
 */
export async function withoutStatementLimit<T>(
  dataSource: DataSource,
  runner: QueryRunner,
  work: () => Promise<T>,
): Promise<T> {
  const limit = statementTimeoutOf(dataSource)
  if (limit === undefined || dataSource.options.type === 'better-sqlite3') return work()
  const set = await settingsOf(dataSource, runner)
  await runner.query(set(0))
  return restoreAfter(work, () => runner.query(set(limit)))
}

async function settingsOf(
  { options }: DataSource,
  runner: QueryRunner,
): Promise<(milliseconds: number) => string> {
  if (options.type === 'postgres') return (milliseconds) => `SET statement_timeout = ${milliseconds}`
  const [{ isMariaDb }] = await runner.query(`SELECT ${IS_MARIADB}`)
  return (milliseconds) => statementLimit(Number(isMariaDb) === 1, milliseconds)
}
