/** Entry `@mortar/auth/passkeys/schema`: the entities of the tables of `passkeys()`. */
import { entityOf } from '../../basic/entity-of.ts'
import { PASSKEYS } from './table.ts'

export { AuthChallenges } from '../challenges/schema.ts'
export { AuthSessionMethods } from '../session-methods/schema.ts'

/** `auth_passkeys`: public keys that sign a user in. */
export const AuthPasskeys = entityOf(PASSKEYS)
