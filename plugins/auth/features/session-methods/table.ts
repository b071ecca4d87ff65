import type { TableShape } from '../../accounts/records.ts'

/** `auth_session_methods`: the methods of sessions that began with more, or something else, than a password. */
export const SESSION_METHODS: TableShape = {
  name: 'auth_session_methods',
  key: ['session_id', 36],
  texts: { methods: 64 },
  shown: ['session_id', 'methods'],
}
