import type { TableShape } from '../../accounts/records.ts'

/** `auth_session_details`: from where a session began. A row is over when its session is. */
export const SESSION_DETAILS: TableShape = {
  name: 'auth_session_details',
  key: ['session_id', 36],
  texts: { agent: 255, ip: 45 },
  shown: ['session_id', 'agent', 'ip'],
}
