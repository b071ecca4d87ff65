/** Entry `@mortar/auth/totp/schema`: the entities of the tables of `totp()`. */
import { entityOf } from '../../basic/entity-of.ts'
import { RECOVERY_CODES, SESSION_METHODS, TOTP } from './table.ts'

export { AuthChallenges } from '../challenges/schema.ts'

/** `auth_totp`: the authenticator of each user. */
export const AuthTotp = entityOf(TOTP)

/** `auth_recovery_codes`: unused recovery codes. */
export const AuthRecoveryCodes = entityOf(RECOVERY_CODES)

/** `auth_session_methods`: the methods of sessions with a second factor. */
export const AuthSessionMethods = entityOf(SESSION_METHODS)
