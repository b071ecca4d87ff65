import type { DataSource } from 'typeorm'
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js'

/** A family of column types and the primitive values that its columns can equal. */
interface Family {
  readonly types: readonly unknown[]
  readonly matches: (value: unknown, column: ColumnMetadata) => boolean
  readonly wanted: string
}

const names = (list: string): string[] => list.split(', ')

const isString = (value: unknown): value is string => typeof value === 'string'

const isNumber = (value: unknown): boolean =>
  Number.isFinite(value) || typeof value === 'bigint' || (isString(value) && /^-?\d+(?:\.\d+)?$/.test(value))

const TEXT: Family = {
  types: [
    String,
    ...names(
      'varchar, character varying, varying character, nvarchar, national varchar, char, character, nchar',
    ),
    ...names('native character, national char, text, tinytext, mediumtext, longtext, clob, citext'),
    ...names('uuid, inet4, inet6, set, simple-array'),
    ...names('blob, tinyblob, mediumblob, longblob, binary, varbinary, bytea'),
  ],
  matches: isString,
  wanted: 'a string',
}

const FAMILIES: readonly Family[] = [
  TEXT,
  {
    types: [Boolean, 'boolean', 'bool'],
    matches: (value) => typeof value === 'boolean',
    wanted: 'true or false',
  },
  {
    types: [
      Number,
      ...names(
        'int, integer, tinyint, smallint, mediumint, bigint, unsigned big int, int2, int4, int8, year',
      ),
      ...names('float, float4, float8, real, double, double precision, dec, decimal, fixed, numeric'),
    ],
    matches: isNumber,
    wanted: 'a number',
  },
  {
    types: ['bit'],
    matches: (value) => typeof value === 'boolean' || isNumber(value),
    wanted: 'a number, true or false',
  },
  // `'$1,000.00'` is a value; PostgreSQL reads an empty string as 0.
  {
    types: ['money'],
    matches: (value) => isNumber(value) || (isString(value) && /\d/.test(value)),
    wanted: 'a number',
  },
  {
    types: ['enum', 'simple-enum'],
    matches: (value, { enum: members }) => isString(value) || members?.includes(value as never) === true,
    wanted: 'a value of the enum',
  },
  {
    types: [
      Date,
      ...names(
        'date, datetime, timestamp, timestamptz, timestamp with time zone, timestamp without time zone',
      ),
    ],
    matches: (value) => isString(value) && /^[-+]?\d{4,6}-\d\d?-\d\d?/.test(value),
    wanted: 'a date',
  },
  {
    types: names('time, timetz, time with time zone, time without time zone'),
    matches: (value) => isString(value) && /^-?\d{1,3}:\d\d/.test(value),
    wanted: 'a time',
  },
  // They are compared as JSON text.
  { types: ['json', 'jsonb', 'simple-json'], matches: () => true, wanted: 'a value' },
]

const FAMILY_OF = new Map(FAMILIES.flatMap((family) => family.types.map((type) => [type, family] as const)))

/** Types without a family: PostgreSQL writes and reads all of its other types as text. */
const OTHER: Family = { types: [], matches: () => false, wanted: 'an object of the type of the column' }

/**
 * Makes the check of the values of one column. It refuses a value of another type: databases convert it silently. SQLite
 * finds no row for `'true'`, and for MariaDB the number 0 equals every string without digits (CWE-1287). A column with a
 * transformer is checked by what the transformer makes of the value.
 * @returns a function that throws a TypeError with the names of the column and the type, not the value.
 */
export function valueCheck(
  column: ColumnMetadata,
  { options }: DataSource,
): (value: unknown, name: string) => void {
  const { matches, wanted } = FAMILY_OF.get(column.type) ?? (options.type === 'postgres' ? TEXT : OTHER)
  return (given, name) => {
    const value = stored(given, column)
    // Lists and objects are refused elsewhere, unless the column stores them.
    if (column.isArray || !isPrimitive(value) || matches(value, column)) return
    throw new TypeError(
      `The parameter '${name}' of the column '${column.propertyPath}' is a value of type ${typeof value}. Give ${wanted}.`,
    )
  }
}

function stored(value: unknown, { transformer }: ColumnMetadata): unknown {
  if (transformer === undefined) return value
  const steps = Array.isArray(transformer) ? transformer : [transformer]
  return steps.reduce<unknown>((result, step) => step.to(result), value)
}

const isPrimitive = (value: unknown): boolean =>
  typeof value !== 'object' && typeof value !== 'function' && value !== undefined
