import { inTime, lateDatabase, runInPool, type SideConnections } from 'mortar/kit'
import type { EndedSessionReader } from '../accounts/auth-store.ts'
import { MissingTable } from '../errors.ts'
import { createRun, sqlOf, unlessTaken, type DataSourceLike, type Sql } from './sql.ts'

/** Time limit of the first read, which reads the whole table while no request waits for it. */
const FIRST_DEADLINE = 30_000

/** The statements about ended sessions: `publishEnded`, `publishEndedOf` and `hasEnded` of the store. */
export function endedSessionStatements(sql: Sql) {
  return {
    async publishEnded(id: string, expiresAt: number) {
      const { affected } = await sql`update auth_ended_sessions
        set ended_at = {now}, expires_at = ${expiresAt} where id = ${id}`
      if (affected === 1) return
      await unlessTaken(
        sql`insert into auth_ended_sessions (id, ended_at, expires_at)
          values (${id}, {now}, ${expiresAt})`,
      )
    },

    async hasEnded(id: string) {
      try {
        const { records } = await sql`select id from auth_ended_sessions where id = ${id}`
        return records.length > 0
      } catch (error) {
        // Before the migration that makes the table, no end was published.
        if (error instanceof MissingTable) return false
        throw error
      }
    },

    async publishEndedOf(userId: string, version: number, expiresAt: number, kept = '') {
      const insert = async (): Promise<boolean> =>
        unlessTaken(
          sql`insert into auth_ended_sessions (id, ended_at, expires_at)
            select id, {now}, ${expiresAt} from auth_refresh_tokens
            where user_id = ${userId} and password_version <= ${version} and id <> ${kept}
              and id not in (select id from auth_ended_sessions)`,
        )
      // Another process has published the same session at the same moment. The next attempt skips that session.
      while (!(await insert()));
      // Not every session of the user: one that began after the insertion is not published.
      const { records } = await sql`select id from auth_refresh_tokens
        where user_id = ${userId} and password_version <= ${version} and id <> ${kept}
          and id in (select id from auth_ended_sessions)`
      return records.map((record) => String(record['id']))
    },
  }
}

/**
 * Opens the reader of a DataSource that is connected; undefined for a database in this process's memory.
 * Ten slow queries of the application must not delay the records, and a connection that no longer responds must be closed,
 * so the reader uses a connection beside the pool if a brick provides the service `sideConnections`.
 * @param deadline the milliseconds for one read but the first, after which its connection is closed.
 */
export function readEndedSessions(
  source: DataSourceLike,
  deadline: number,
  beside?: SideConnections,
): EndedSessionReader | undefined {
  if (isInMemory(source)) return undefined
  let limit = FIRST_DEADLINE
  const side = beside?.open(source, { deadline: () => limit, hedge: true })
  const run = createRun(
    () => source,
    side
      ? (_, statement, values) => side.query(statement, values)
      : (...statement) => inTime(runInPool(...statement), limit, () => lateDatabase(limit)),
  )
  const sql = sqlOf(run)
  return {
    async since(moment) {
      // The outer join returns the time of the database even if nothing was published.
      const { records } = await sql`select clock.now_ms, ended.id, ended.expires_at
        from (select {now} as now_ms) clock
        left join auth_ended_sessions ended on ended.ended_at >= ${moment}`
      limit = deadline
      const sessions = records
        .filter(({ id }) => id !== null)
        .map((row) => ({ id: String(row['id']), until: Number(row['expires_at']) }))
      return { sessions, now: Number(records[0]!['now_ms']) }
    },
    close: () => side?.close(),
  }
}

function isInMemory({ options }: DataSourceLike): boolean {
  const { database } = options as { readonly database?: unknown }
  return (
    /sqlite|sqljs/.test(options.type) &&
    (database === ':memory:' || database === '' || database === undefined)
  )
}
