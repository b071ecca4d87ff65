import { randomUUID } from 'node:crypto'
import type { TableStatements } from 'mortar/kit'
import { LEASE, type ChannelEngine } from './engine.ts'

/** Users in channels, each with a lease of this process. */
export function membersOf(
  { run }: TableStatements,
  isMysql: boolean,
): Pick<ChannelEngine, 'enter' | 'leave' | 'present'> {
  const process = randomUUID()
  const renewed = isMysql
    ? 'ON DUPLICATE KEY UPDATE expires_at = VALUES(expires_at)'
    : 'ON CONFLICT (channel, user_id, process) DO UPDATE SET expires_at = excluded.expires_at'
  return {
    async enter(members) {
      await run(
        `INSERT INTO {members} (channel, user_id, process, expires_at)
         VALUES ${members.map(() => `(?, ?, ?, {now} + ${LEASE})`).join(', ')} ${renewed}`,
        members.flatMap(({ channel, user }) => [channel, user, process]),
      )
    },
    async leave(members) {
      for (const { channel, user } of members)
        await run('DELETE FROM {members} WHERE channel = ? AND user_id = ? AND process = ?', [
          channel,
          user,
          process,
        ])
    },
    async present(channels) {
      const { records } = await run(
        `SELECT DISTINCT channel, user_id FROM {members}
         WHERE expires_at > {now} AND channel IN (${channels.map(() => '?').join(', ')})`,
        channels,
      )
      return records.map((row) => ({ channel: String(row['channel']), user: String(row['user_id']) }))
    },
  }
}
