import type { EntitySchemaColumnOptions } from 'typeorm'

// `varchar` of a fixed length and not `uuid`, and constructors instead of type names: those exist on every database.
/** An id. */
export const ID = { type: String, length: 36 } as const
/** A hash in hex. */
export const HASH = { type: String, length: 64 } as const
/** The user of a row, with whom the row is deleted. */
export const OWNER = {
  ...ID,
  foreignKey: { target: 'auth_users', onDelete: 'CASCADE' },
} as const satisfies EntitySchemaColumnOptions
/** A moment in milliseconds since the epoch. */
export const MILLISECONDS = {
  type: 'bigint',
  transformer: { from: Number, to: (value: unknown) => value },
} as const
