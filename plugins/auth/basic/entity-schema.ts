import type { EntitySchema, EntitySchemaOptions } from 'typeorm'
import { makeEntity } from 'mortar/kit'

const NEED = { of: "the brick 'auth'", peers: { from: import.meta.url, packages: ['typeorm'] } }

/** Makes an entity of the brick, also without TypeORM: the start of the application reports all missing packages. */
export function entitySchema<Row>(options: EntitySchemaOptions<Row>): EntitySchema<Row> {
  return makeEntity(options, NEED)
}
