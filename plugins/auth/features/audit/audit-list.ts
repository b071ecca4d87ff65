import { MOST_RECORDS, type RecordRow, type Records } from '../../accounts/records.ts'
import type { AuditEntry, AuditLog } from '../../flows/proof.ts'

const PAGE = 50

/** Creates the reader of the log. */
export function createAuditList(records: Records): AuditLog {
  return {
    async list({ userId, before, limit = PAGE } = {}) {
      const where = {
        ...(userId !== undefined && { user_id: userId }),
        ...(before !== undefined && { id: { below: before } }),
      }
      const most = Math.max(1, Math.min(MOST_RECORDS, Math.trunc(limit)))
      return (await records.find(where, most)).map(entryOf)
    },
  }
}

function entryOf(row: RecordRow): AuditEntry {
  const textOf = (column: string) => (typeof row[column] === 'string' ? row[column] : null)
  return {
    id: String(row['id']),
    at: new Date(Number(row['created_at'])).toISOString(),
    event: String(row['event']),
    userId: textOf('user_id'),
    sessionId: textOf('session_id'),
    ip: textOf('ip'),
    requestId: textOf('request_id'),
    data: JSON.parse(textOf('data') ?? '{}') as AuditEntry['data'],
  }
}
