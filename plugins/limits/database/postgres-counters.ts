import { inOrder, inWindow, isActive, sorted, type CountedRow } from './counted-rows.ts'
import { TABLE, type MakeCounters } from './database-counters.ts'
import { serverConnection } from './server-connection.ts'

/** Counters in PostgreSQL, over one connection. */
export const postgresCounters: MakeCounters = (source, beside) => {
  const { schema } = source.options
  const { query, reset, close } = serverConnection(source, beside)
  const table = schema === undefined ? `"${TABLE}"` : `"${schema}"."${TABLE}"`
  const isCounting = isActive('counted.expire', 'EXCLUDED.expire', '$4')
  const upsert = `
    INSERT INTO ${table} AS counted (key, points, expire)
    SELECT * FROM unnest($1::varchar[], $2::integer[], $3::bigint[])
    ON CONFLICT (key) DO UPDATE SET
      points = EXCLUDED.points + CASE WHEN ${isCounting} THEN counted.points ELSE 0 END,
      expire = CASE WHEN ${isCounting} THEN counted.expire ELSE EXCLUDED.expire END
    RETURNING key, points, expire`
  return {
    isReady: () => true,
    reset,
    disconnect: close,
    async count(counts) {
      const now = Date.now()
      const rows = sorted(counts)
      const values = [
        rows.map(({ key }) => key),
        rows.map(({ requests }) => requests),
        rows.map(({ window }) => now + window * 1000),
        now,
      ]
      return inOrder(counts, (await query(upsert, values)).records as unknown as CountedRow[], now)
    },
    read: async (key) =>
      inWindow(
        (await query(`SELECT key, points, expire FROM ${table} WHERE key = $1`, [key]))
          .records as unknown as CountedRow[],
      ),
    clear: (key) => query(`DELETE FROM ${table} WHERE key = $1`, [key]),
    giveBack: (key) => query(`UPDATE ${table} SET points = points - 1 WHERE key = $1 AND points > 0`, [key]),
    prepare: async () => void (await query(`SELECT key, points, expire FROM ${table} LIMIT 0`)),
    async deleteExpired(now, most) {
      // A row that a count has locked is in use.
      const expired = `SELECT key FROM ${table} WHERE expire < $1 LIMIT ${most} FOR UPDATE SKIP LOCKED`
      return (await query(`DELETE FROM ${table} WHERE key IN (${expired})`, [now])).affected!
    },
  }
}
