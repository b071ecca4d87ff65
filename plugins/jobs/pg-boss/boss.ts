import type PgBoss from 'pg-boss'
import {
  errorCode,
  ignore,
  loadPeer,
  retryRolledBack,
  runnerOf,
  type StatementResult,
  type Transaction,
} from 'mortar/kit'
import type { DataSourceLike } from '../database/statements.ts'

export const PEERS = { from: import.meta.url, packages: ['pg-boss'] } as const

/** Ten years, in seconds: the jobs brick deletes failed jobs itself. */
const NEVER = 315_360_000

/** Runs a statement with the parameters `$1` and so on. */
export type RunSql = (text: string, values?: readonly unknown[], tx?: Transaction) => Promise<StatementResult>

/** Returns a pg-boss that uses the connections of the application, and has no timers of its own. */
export function createBoss(schema: string, sql: RunSql): PgBoss {
  const library = loadPeer<typeof PgBoss>('pg-boss', { of: "the brick 'jobs'", peers: PEERS })
  const boss = new library({
    schema,
    // The second of two processes that create the schema together then finds its tables, which pg-boss allows for.
    db: pgBossSql((text, values) =>
      sql(text, values).catch((error: unknown) => {
        if (values === undefined && errorCode(error) === TWICE) return sql(text)
        throw error
      }),
    ),
    schedule: false,
    supervise: false,
    archiveFailedAfterSeconds: NEVER,
  })
  // Each call rejects with its own error.
  return boss.on('error', ignore)
}

/** Unique violation. */
const TWICE = '23505'

/** The form in which pg-boss runs statements. */
export function pgBossSql(sql: RunSql): PgBoss.Db {
  return { executeSql: async (text, values) => ({ rows: [...(await sql(text, values)).records] }) }
}

export function runSql(db: DataSourceLike): RunSql {
  return async (text, values, tx) =>
    tx === undefined
      ? retryRolledBack(() => runAlone(db, text, values))
      : runnerOf(tx, 'jobs.add').query(text, values!, true)
}

async function runAlone(
  db: DataSourceLike,
  text: string,
  values: readonly unknown[] | undefined,
): Promise<StatementResult> {
  const runner = db.createQueryRunner('master')
  try {
    return await runner.query(text, values as readonly unknown[], true)
  } catch (error) {
    // Statements without parameters may begin a transaction, and leave it open when they fail.
    if (values === undefined) await runner.query('ROLLBACK', [], true).catch(ignore)
    throw error
  } finally {
    await runner.release()
  }
}
