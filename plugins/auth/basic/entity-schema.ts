import type { EntitySchema, EntitySchemaOptions } from 'typeorm'
import type * as TypeOrm from 'typeorm'
import { hasPeer, loadPeer, type PeerNeed } from 'mortar/kit'

const need: PeerNeed = {
  of: "the brick 'auth'",
  peers: { from: import.meta.url, packages: ['typeorm'] },
}

const typeorm = hasPeer('typeorm', need) ? loadPeer<typeof TypeOrm>('typeorm', need) : undefined

/**
 * Makes an entity. Schema modules run while an application is imported, so without TypeORM this does not throw but
 * returns the options alone: the start of the application reports all missing packages.
 */
export function entitySchema<Row>(options: EntitySchemaOptions<Row>): EntitySchema<Row> {
  return typeorm === undefined ? ({ options } as EntitySchema<Row>) : new typeorm.EntitySchema<Row>(options)
}
