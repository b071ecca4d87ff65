import type { EntitySchema, EntitySchemaColumnOptions } from 'typeorm'
import type { Entity } from '../entities.ts'
import { typeorm } from '../drivers/typeorm.ts'

/**
 * Key of a column option by which an EntitySchema asks for comparison byte by byte: `[BINARY_COLUMN]: true`. A registered
 * symbol, so that a schema module can write it without importing this brick.
 */
export const BINARY_COLUMN: unique symbol = Symbol.for('mortar.column.binary') as never

/** Key of a column option by which a column of the type `text` asks for more than 64 KiB. */
export const LONG_COLUMN: unique symbol = Symbol.for('mortar.column.long') as never

type Column = EntitySchemaColumnOptions & {
  readonly [BINARY_COLUMN]?: boolean
  readonly [LONG_COLUMN]?: boolean
}

/**
 * Gives columns that ask for it the collation `utf8mb4_bin` on MariaDB and MySQL, whose default treats `é` and `e` as
 * equal, and the type `longtext`, because their `text` ends at 64 KiB. The other databases compare byte by byte by
 * default, do not have that collation, and do not limit `text`. The schemas are not changed.
 */
export function withBinaryColumns(entities: readonly Entity[], type: string): Entity[] {
  if (type !== 'mysql' && type !== 'mariadb') return [...entities]
  return entities.map((entity) =>
    typeorm.InstanceChecker.isEntitySchema(entity) ? withOwnTypes(entity) : entity,
  )
}

function withOwnTypes(schema: EntitySchema): EntitySchema {
  const columns = Object.entries(schema.options.columns as Record<string, Column>)
  if (!columns.some(([, column]) => column[BINARY_COLUMN] || column[LONG_COLUMN])) return schema
  const own = columns.map(([name, column]) => [
    name,
    {
      ...(column[BINARY_COLUMN] && { charset: 'utf8mb4', collation: 'utf8mb4_bin' }),
      ...column,
      ...(column[LONG_COLUMN] && { type: 'longtext' }),
    },
  ])
  return new typeorm.EntitySchema({ ...schema.options, columns: Object.fromEntries(own) })
}
