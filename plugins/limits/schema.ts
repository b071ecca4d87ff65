import type { EntitySchema, EntitySchemaOptions } from 'typeorm'
import type * as TypeOrm from 'typeorm'
import { hasPeer, loadPeer, type PeerNeed } from 'mortar/kit'

/** A row of `mortar_limits`: the requests of one key in its current window. */
export interface LimitRow {
  /** SHA-256 in hex. */
  key: string
  points: number
  /** End of the window, in milliseconds since the epoch. */
  expire: number
}

const need: PeerNeed = {
  of: "the brick 'limits'",
  peers: { from: import.meta.url, packages: ['typeorm'] },
}

const OPTIONS: EntitySchemaOptions<LimitRow> = {
  name: 'mortar_limits',
  columns: {
    // Requests byte-by-byte comparison from `@mortar/database`.
    key: { type: String, length: 64, primary: true, [Symbol.for('mortar.column.binary')]: true },
    points: { type: Number, default: 0 },
    expire: { type: 'bigint', nullable: true },
  },
  indices: [{ columns: ['expire'] }],
}

/**
 * The table of `limits({ store: 'database' })` on PostgreSQL, MariaDB and MySQL. On SQLite the limits have a file of
 * their own and do not need it.
 */
export const MortarLimits: EntitySchema<LimitRow> = make()

/**
 * Schema modules run while an application is imported, so without TypeORM this does not throw: the start of the
 * application reports all missing packages.
 */
function make(): EntitySchema<LimitRow> {
  if (!hasPeer('typeorm', need)) return { options: OPTIONS } as unknown as EntitySchema<LimitRow>
  return new (loadPeer<typeof TypeOrm>('typeorm', need).EntitySchema)<LimitRow>(OPTIONS)
}
