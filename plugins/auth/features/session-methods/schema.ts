/** Entry `@mortar/auth/session-methods/schema`: the entity of the table of methods of sessions. */
import { entityOf } from '../../basic/entity-of.ts'
import { SESSION_METHODS } from './table.ts'

/** `auth_session_methods`: the methods of sessions that began with more, or something else, than a password. */
export const AuthSessionMethods = entityOf(SESSION_METHODS)
