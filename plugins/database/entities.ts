import type { EntitySchema } from 'typeorm'
import type { StartupError } from 'mortar'
import { typeorm } from './drivers/typeorm.ts'
import { fault } from './startup-codes.ts'

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
 * @throws StartupError `MORTAR_DATABASE_ENTITIES` for a class without decorators, an object without entities, and two
 * entities of one name.
 */
export function takeEntities(given: Entities): Entity[] {
  const parts: readonly unknown[] = Array.isArray(given) ? given : [given]
  const entities = [...new Set(parts.flatMap(entitiesOf))]
  refuseSameNames(entities)
  return entities
}

function entitiesOf(part: unknown): Entity[] {
  if (isEntity(part) || typeof part === 'string') return [part]
  const name = typeof part === 'function' ? part.name || 'a function' : undefined
  if (name !== undefined)
    throw wrongEntities(`\`entities\` has ${name}, which has no decorator @Entity().`, CLASS_REMEDY)
  if (typeof part !== 'object' || part === null)
    throw wrongEntities(`\`entities\` has ${String(part)}, which is not an entity.`, MODULE_REMEDY)
  const found = Object.values(part).filter(isEntity)
  // A schema module of a new application exports nothing.
  const isEmptyModule = isModule(part) && Object.keys(part).length === 0
  if (found.length > 0 || isEmptyModule) return found
  throw wrongEntities(`\`entities\` has an object without an entity${namesOf(part)}.`, MODULE_REMEDY)
}

const isModule = (value: object): boolean => Object.prototype.toString.call(value) === '[object Module]'

function namesOf(part: object): string {
  const names = Object.keys(part)
  return names.length === 0 ? '' : `; it has ${names.join(', ')}`
}

/** TypeORM would use the last of them and ignore the others. */
function refuseSameNames(entities: readonly Entity[]): void {
  const schemas = entities.filter((entity) => typeorm.InstanceChecker.isEntitySchema(entity))
  const names = schemas.map(({ options }) => options.name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined)
    throw wrongEntities(
      `\`entities\` has two EntitySchemas with the name '${twice}'.`,
      'Rename one, or leave one out.',
    )
}

const CLASS_REMEDY =
  'Give an EntitySchema. A class needs the decorators of TypeORM and a compiler that supports them.'
const MODULE_REMEDY =
  "Give a schema module (import * as schema from './schema.ts') or its EntitySchemas. For no tables, leave `entities` out."

function wrongEntities(found: string, remedy: string): StartupError {
  return fault('MORTAR_DATABASE_ENTITIES', found, { remedy })
}

function isEntity(value: unknown): value is Entity {
  if (typeorm.InstanceChecker.isEntitySchema(value)) return true
  return (
    typeof value === 'function' &&
    typeorm.getMetadataArgsStorage().tables.some(({ target }) => target === value)
  )
}
