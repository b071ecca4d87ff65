import type { TableShape } from '../../accounts/records.ts'

/** `auth_audit`: events of accounts, in the order of their keys. A row is over when it need not be kept any more. */
export const AUDIT: TableShape = {
  name: 'auth_audit',
  key: ['id', 32],
  texts: { event: 64, session_id: 36, ip: 45, request_id: 128, data: 255 },
  hasStrangers: true,
  shown: ['event', 'session_id', 'ip', 'request_id', 'data'],
}
