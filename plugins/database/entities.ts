import type { EntitySchema } from 'typeorm'
import { typeorm } from './typeorm.ts'

/** A class with TypeORM's decorators. */
export type EntityClass = new (...args: never[]) => object

/** An `EntitySchema`, a class decorated with `@Entity`, or a glob of files that export entities. */
export type Entity = EntitySchema | EntityClass | string

/**
 * A schema module: `import * as schema from './schema.ts'`. Its entities are used, and its other exports are ignored.
 */
export type SchemaModule = object

/** The option `entities`: a schema module, or an array of entities and schema modules. */
export type Entities = SchemaModule | readonly (Entity | SchemaModule)[]

/**
 * Lists the given entities, each once. TypeORM itself accepts a module, but finds nothing in a module inside an array.
 */
export function takeEntities(given: Entities): Entity[] {
  const parts: readonly unknown[] = Array.isArray(given) ? given : [given]
  return [...new Set(parts.flatMap(entitiesOf))]
}

function entitiesOf(part: unknown): Entity[] {
  if (isEntity(part) || typeof part === 'string' || typeof part === 'function') return [part as Entity]
  return Object.values(part as SchemaModule).filter(isEntity)
}

function isEntity(value: unknown): value is Entity {
  if (typeorm.InstanceChecker.isEntitySchema(value)) return true
  return (
    typeof value === 'function' &&
    typeorm.getMetadataArgsStorage().tables.some(({ target }) => target === value)
  )
}
