import { inOrder, sorted, type CountedRow } from './counted-rows.ts'
import { TABLE, type DataSourceLike } from '../compat/data-source.ts'
import { openMysql } from '../compat/open-link.ts'
import type { DatabaseCounters } from './database-counters.ts'
import { codeOf, reconnecting } from './link.ts'

/** Only MariaDB returns what an upsert has written, so a transaction reads it. One message has all four statements. */
const COUNT = `
  START TRANSACTION;
  INSERT INTO ${TABLE} (\`key\`, points, expire) VALUES ?
  ON DUPLICATE KEY UPDATE
    points = VALUES(points) + IF(expire > ?, points, 0),
    expire = IF(expire > ?, expire, VALUES(expire));
  SELECT \`key\`, points, expire FROM ${TABLE} WHERE \`key\` IN (?);
  COMMIT`

/** Counters in MariaDB or MySQL, over one connection. */
export function mysqlCounters(source: DataSourceLike): DatabaseCounters {
  const { query, disconnect } = reconnecting((onLost) => openMysql(source, onLost))
  return {
    isReady: () => true,
    reset: disconnect,
    disconnect,
    async count(counts) {
      const now = Date.now()
      const rows = sorted(counts).map(({ key, requests, window }) => [key, requests, now + window * 1000])
      const results = await query(COUNT, [rows, now, now, rows.map(([key]) => key)])
      return inOrder(counts, (results as unknown[])[2] as CountedRow[], now)
    },
    clear: (key) => query(`DELETE FROM ${TABLE} WHERE \`key\` = ?`, [key]),
    giveBack: (key) =>
      query(`UPDATE ${TABLE} SET points = points - 1 WHERE \`key\` = ? AND points > 0`, [key]),
    prepare: async () => void (await query(`SELECT \`key\`, points, expire FROM ${TABLE} LIMIT 0`)),
    isMissingTable: (error) => codeOf(error) === 'ER_NO_SUCH_TABLE',
    async deleteExpired(now, most) {
      const result = await query(`DELETE FROM ${TABLE} WHERE expire < ? LIMIT ${most}`, [now])
      return (result as { readonly affectedRows: number }).affectedRows
    },
  }
}
