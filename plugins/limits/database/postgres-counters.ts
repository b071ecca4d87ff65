import { inOrder, sorted, type CountedRow } from './counted-rows.ts'
import { TABLE, type DataSourceLike, type PostgresDriver, type PostgresResult } from './data-source.ts'
import type { DatabaseCounters } from './database-counters.ts'
import { codeOf, reconnecting, type Link } from './link.ts'

/** Counters in PostgreSQL, over one connection. */
export function postgresCounters({ driver, options: { schema } }: DataSourceLike): DatabaseCounters {
  const { query, disconnect } = reconnecting((onLost) => open(driver, onLost))
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

function open({ master }: PostgresDriver, onLost: () => void): Link {
  const { options, Client } = master!
  // The pool hides the password from enumeration.
  const client = new Client!({ ...options, password: options.password, keepAlive: true })
  // Node ends the process after an error event without a listener.
  client.on('error', onLost)
  client.on('end', onLost)
  const ready = client.connect()
  // pg 9 refuses a statement while another one runs.
  let free: Promise<unknown> = ready
  return {
    run(sql, values) {
      // Statements without a name also work through PgBouncer in transaction mode.
      const result = free.then(() => ready).then(() => client.query(sql, values))
      free = result.catch(() => undefined)
      return result
    },
    destroy: () => client.connection?.stream?.destroy(),
  }
}
