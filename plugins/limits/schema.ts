import type { EntitySchema, EntitySchemaOptions } from 'typeorm'
import { BINARY, makeEntity } from 'mortar/kit'
import { TABLE } from './database/database-counters.ts'

/** A row of `mortar_limits`: the requests of one key in its current window. */
export interface LimitRow {
  /** SHA-256 in hex. */
  key: string
  points: number
  /** End of the window, in milliseconds since the epoch. */
  expire: number
}

const OPTIONS: EntitySchemaOptions<LimitRow> = {
  name: TABLE,
  columns: {
    key: { type: String, length: 64, primary: true, ...BINARY },
    points: { type: Number, default: 0 },
    expire: { type: 'bigint', nullable: true },
  },
  indices: [{ columns: ['expire'] }],
}

/**
 * The table of `limits({ store: 'database' })` on PostgreSQL, MariaDB and MySQL. On SQLite the limits have a file of
 * their own and do not need it.
 */
export const MortarLimits: EntitySchema<LimitRow> = makeEntity(OPTIONS, {
  of: "the brick 'limits'",
  peers: { from: import.meta.url, packages: ['typeorm'] },
})
