/** Entry `@mortar/auth/social/schema`: the entities of the tables of `social()`. */
import { entityOf } from '../../basic/entity-of.ts'
import { ACCOUNTS } from './table.ts'

export { AuthSessionMethods } from '../session-methods/schema.ts'

/** `auth_accounts`: accounts of other providers that sign a user in. */
export const AuthAccounts = entityOf(ACCOUNTS)
