import type { EntitySchema, EntitySchemaColumnOptions } from 'typeorm'
import type { Entity } from '../entities.ts'
import { typeorm } from '../drivers/typeorm.ts'

/**
 * Key of a column option by which an EntitySchema asks for comparison byte by byte: `[BINARY_COLUMN]: true`. A registered
 * symbol, so that a schema module can write it without importing this brick.
 */
export const BINARY_COLUMN: unique symbol = Symbol.for('mortar.column.binary') as never

type Column = EntitySchemaColumnOptions & { readonly [BINARY_COLUMN]?: boolean }

/**
 * Gives columns that ask for it the collation `utf8mb4_bin` on MariaDB and MySQL, whose default treats `é` and `e` as
 * equal. The other databases compare byte by byte by default and do not have that collation. The schemas are not
 * changed.
 */
export function withBinaryColumns(entities: readonly Entity[], type: string): Entity[] {
  if (type !== 'mysql' && type !== 'mariadb') return [...entities]
  return entities.map((entity) =>
    typeorm.InstanceChecker.isEntitySchema(entity) ? withCollation(entity) : entity,
  )
}

function withCollation(schema: EntitySchema): EntitySchema {
  const columns = Object.entries(schema.options.columns as Record<string, Column>)
  if (!columns.some(([, column]) => column[BINARY_COLUMN])) return schema
  const collated = columns.map(([name, column]) =>
    column[BINARY_COLUMN]
      ? [name, { charset: 'utf8mb4', collation: 'utf8mb4_bin', ...column }]
      : [name, column],
  )
  return new typeorm.EntitySchema({ ...schema.options, columns: Object.fromEntries(collated) })
}
