import type { EntitySchema } from 'typeorm'
import type { PRIVATE_FIELDS } from '../accounts/private-fields.ts'
import type { JsonValue } from '../accounts/public-record.ts'

/**
 * `user.raw` for the entity of `auth_users`: its columns as JSON, without those that never leave the server. Any column
 * if the entity is not known.
 */
export type PublicColumns<Users> =
  Users extends EntitySchema<infer Row>
    ? { readonly [Name in Exclude<keyof Row, (typeof PRIVATE_FIELDS)[number]>]: JsonValue<Row[Name]> }
    : Record<string, unknown>
