/** Entry `@mortar/auth/account/schema`: the entity of the table of `account()`. */
import { entityOf } from '../../basic/entity-of.ts'
import { DELETIONS } from './table.ts'

/** `auth_deletions`: accounts that will be deleted, with the end of their grace. */
export const AuthDeletions = entityOf(DELETIONS)
