import { inOrder, inWindow, isActive, sorted, type CountedRow } from './counted-rows.ts'
import { TABLE, type MakeCounters } from './database-counters.ts'
import { serverConnection } from './server-connection.ts'

const IS_COUNTING = isActive('expire', 'VALUES(expire)', '?')

/** Only MariaDB returns what an upsert has written, so a transaction reads it. One message has all four statements. */
const COUNT = `
  START TRANSACTION;
  INSERT INTO ${TABLE} (\`key\`, points, expire) VALUES ?
  ON DUPLICATE KEY UPDATE
    points = VALUES(points) + IF(${IS_COUNTING}, points, 0),
    expire = IF(${IS_COUNTING}, expire, VALUES(expire));
  SELECT \`key\`, points, expire FROM ${TABLE} WHERE \`key\` IN (?);
  COMMIT`

/** Counters in MariaDB or MySQL, over one connection. */
export const mysqlCounters: MakeCounters = (source, beside) => {
  const { query, reset, close } = serverConnection(source, beside, { multipleStatements: true })
  return {
    isReady: () => true,
    reset,
    disconnect: close,
    async count(counts) {
      const now = Date.now()
      const rows = sorted(counts).map(({ key, requests, window }) => [key, requests, now + window * 1000])
      const { records } = await query(COUNT, [rows, now, now, now, now, rows.map(([key]) => key)])
      return inOrder(counts, records[2] as unknown as CountedRow[], now)
    },
    read: async (key) => {
      const { records } = await query(`SELECT \`key\`, points, expire FROM ${TABLE} WHERE \`key\` = ?`, [key])
      return inWindow(records as unknown as CountedRow[])
    },
    clear: (key) => query(`DELETE FROM ${TABLE} WHERE \`key\` = ?`, [key]),
    giveBack: (key) =>
      query(`UPDATE ${TABLE} SET points = points - 1 WHERE \`key\` = ? AND points > 0`, [key]),
    prepare: async () => void (await query(`SELECT \`key\`, points, expire FROM ${TABLE} LIMIT 0`)),
    async deleteExpired(now, most) {
      return (await query(`DELETE FROM ${TABLE} WHERE expire < ? LIMIT ${most}`, [now])).affected!
    },
  }
}
