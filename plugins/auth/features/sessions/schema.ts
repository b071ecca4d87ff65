/** Entry `@mortar/auth/sessions/schema`: the entity of the table of `sessions()`. */
import { entityOf } from '../../basic/entity-of.ts'
import { SESSION_DETAILS } from './table.ts'

/** `auth_session_details`: browser and address of each session. */
export const AuthSessionDetails = entityOf(SESSION_DETAILS)
