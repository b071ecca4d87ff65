/** Entry `@mortar/auth/totp/schema`: the entities of the tables of `totp()`. */
import { entityOf } from '../../basic/entity-of.ts'
import { RECOVERY_CODES, TOTP } from './table.ts'

export { AuthChallenges } from '../challenges/schema.ts'
export { AuthSessionMethods } from '../session-methods/schema.ts'

/** `auth_totp`: the authenticator of each user. */
export const AuthTotp = entityOf(TOTP)

/** `auth_recovery_codes`: unused recovery codes. */
export const AuthRecoveryCodes = entityOf(RECOVERY_CODES)
