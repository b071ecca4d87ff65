import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js'

/** Column types by the values that they accept in a condition. A list of any other type is not checked. */
const KINDS: readonly {
  readonly types: ReadonlySet<unknown>
  readonly matches: (value: unknown) => boolean
  readonly wanted: string
}[] = [
  {
    types: new Set([Boolean, 'boolean', 'bool']),
    matches: (value) => typeof value === 'boolean',
    wanted: 'true or false',
  },
  {
    types: new Set([Number, 'int', 'integer', 'smallint', 'bigint', 'int2', 'int4', 'int8', 'float', 'real']),
    matches: (value) =>
      typeof value === 'number' ||
      typeof value === 'bigint' ||
      (typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value)),
    wanted: 'a number',
  },
  {
    types: new Set([String, 'varchar', 'character varying', 'text', 'char', 'uuid']),
    matches: (value) => typeof value === 'string',
    wanted: 'a string',
  },
]

/**
 * Refuses a value of another type than its column. Databases convert it silently: SQLite finds no row for `'true'`, and
 * for MariaDB the number 0 equals every string without digits (CWE-1287).
 * @throws TypeError that names the column and the type, not the value.
 */
export function checkValue(value: unknown, name: string, column: ColumnMetadata): unknown {
  // Lists and objects are refused elsewhere, unless the column stores them.
  if (column.transformer || column.isArray || !isPrimitive(value)) return value
  const kind = kindOf(column)
  if (kind === undefined || kind.matches(value)) return value
  throw new TypeError(
    `The parameter '${name}' of the column '${column.propertyPath}' is a value of type ${typeof value}. Give ${kind.wanted}.`,
  )
}

function kindOf({ type }: ColumnMetadata): (typeof KINDS)[number] | undefined {
  return KINDS.find(({ types }) => types.has(type))
}

const isPrimitive = (value: unknown): boolean => typeof value !== 'object' && typeof value !== 'function'
