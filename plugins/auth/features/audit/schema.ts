/** Entry `@mortar/auth/audit/schema`: the entity of the table of `audit()`. */
import { entityOf } from '../../basic/entity-of.ts'
import { AUDIT } from './table.ts'

/** `auth_audit`: events of accounts. */
export const AuthAudit = entityOf(AUDIT)
