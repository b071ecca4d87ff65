import { inOrder, sorted, type CountedRow } from './counted-rows.ts'
import { TABLE, type DataSourceLike, type PostgresResult } from '../compat/data-source.ts'
import { openPostgres } from '../compat/open-link.ts'
import type { DatabaseCounters } from './database-counters.ts'
import { codeOf, reconnecting } from './link.ts'

/** Counters in PostgreSQL, over one connection. */
export function postgresCounters({ driver, options: { schema } }: DataSourceLike): DatabaseCounters {
  const { query, disconnect } = reconnecting((onLost) => openPostgres(driver, onLost))
  const table = schema === undefined ? `"${TABLE}"` : `"${schema}"."${TABLE}"`
  const run = async (sql: string, values: readonly unknown[] = []): Promise<PostgresResult> =>
    (await query(sql, values)) as PostgresResult
  const upsert = `
    INSERT INTO ${table} AS counted (key, points, expire)
    SELECT * FROM unnest($1::varchar[], $2::integer[], $3::bigint[])
    ON CONFLICT (key) DO UPDATE SET
      points = EXCLUDED.points + CASE WHEN counted.expire > $4 THEN counted.points ELSE 0 END,
      expire = CASE WHEN counted.expire > $4 THEN counted.expire ELSE EXCLUDED.expire END
    RETURNING key, points, expire`
  return {
    isReady: () => true,
    reset: disconnect,
    disconnect,
    async count(counts) {
      const now = Date.now()
      const rows = sorted(counts)
      const values = [
        rows.map(({ key }) => key),
        rows.map(({ requests }) => requests),
        rows.map(({ window }) => now + window * 1000),
        now,
      ]
      return inOrder(counts, (await run(upsert, values)).rows as CountedRow[], now)
    },
    clear: (key) => run(`DELETE FROM ${table} WHERE key = $1`, [key]),
    giveBack: (key) => run(`UPDATE ${table} SET points = points - 1 WHERE key = $1 AND points > 0`, [key]),
    prepare: async () => void (await run(`SELECT key, points, expire FROM ${table} LIMIT 0`)),
    isMissingTable: (error) => codeOf(error) === '42P01',
    async deleteExpired(now, most) {
      // A row that a count has locked is in use.
      const expired = `SELECT key FROM ${table} WHERE expire < $1 LIMIT ${most} FOR UPDATE SKIP LOCKED`
      return (await run(`DELETE FROM ${table} WHERE key IN (${expired})`, [now])).rowCount
    },
  }
}
