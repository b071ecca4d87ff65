import type { EntitySchemaColumnOptions, ValueTransformer } from 'typeorm'

/** A whole number from 0, below the limit. */
export type Random = (below: number) => number

/** A column and how to make a value that it can store. */
export interface Sample {
  readonly column: EntitySchemaColumnOptions
  readonly value: (random: Random) => unknown
  /** The value can be compared in a condition, in TypeORM as well. */
  readonly comparable?: boolean
}

const COLORS = ['red', 'green', 'blue grey']
const SIZES = [1, 2, 40]

const one = <T>(random: Random, values: readonly T[]): T => values[random(values.length)]!
const text = (random: Random): string =>
  Array.from({ length: random(12) }, () => one(random, [...'aZ0 ,;\'"\\é漢😀{}[]:-'])).join('')
const word = (random: Random): string => `w${random(1_000)}`
const whole = (random: Random): number => random(200) - 100
const digits = (random: Random): string => `${1 + random(9)}${random(1e9)}${random(1e8)}`
const moment = (random: Random): Date =>
  new Date(Date.UTC(1971 + random(66), random(12), 1 + random(31)) + random(86_399_999))
const second = (random: Random): Date => new Date(Math.floor(moment(random).getTime() / 1000) * 1000)
const day = (random: Random): string => moment(random).toISOString().slice(0, 10)
const time = (random: Random): string => moment(random).toISOString().slice(11, 19)
const document = (random: Random): unknown =>
  one(random, [{}, [], [1, 'a', null], { a: { b: text(random) } }, text(random), random(9), true])
const uuid = (random: Random): string =>
  `6ba7b8${(10 + random(90)).toString()}-9dad-41d1-80b4-${String(random(1e9)).padStart(12, '0')}`
const bytes = (random: Random): Buffer => Buffer.from(Array.from({ length: random(9) }, () => random(256)))

/** Money in cents as a bigint of JavaScript, and a string stored reversed in capitals: one transformer and two. */
const cents: ValueTransformer = {
  to: (value: bigint | null) => (value === null ? null : String(value)),
  from: (value: string | null) => (value === null ? null : BigInt(value)),
}
const backwards: ValueTransformer = {
  to: (value: string | null) => value && [...value].toReversed().join(''),
  from: (value: string | null) => value && [...value].toReversed().join(''),
}
const capitals: ValueTransformer = {
  to: (value: string | null) => value?.toUpperCase(),
  from: (value: string | null) => value?.toLowerCase(),
}
const never: ValueTransformer = {
  to: (value: unknown) => value,
  from: (value: unknown) => value ?? 'nothing',
}

const COMMON: Record<string, Sample> = {
  ofString: { column: { type: String }, value: text, comparable: true },
  ofNumber: { column: { type: Number }, value: whole, comparable: true },
  ofBoolean: { column: { type: Boolean }, value: (random) => random(2) === 1, comparable: true },
  ofDate: { column: { type: Date, precision: 3 }, value: moment, comparable: true },
  shortText: { column: { type: 'varchar', length: 60 }, value: text, comparable: true },
  longText: { column: { type: 'text' }, value: text, comparable: true },
  int: { column: { type: 'int' }, value: whole, comparable: true },
  integer: { column: { type: 'integer' }, value: whole, comparable: true },
  smallint: { column: { type: 'smallint' }, value: whole, comparable: true },
  bigint: { column: { type: 'bigint' }, value: (random) => random(2 ** 31) * 1024, comparable: true },
  decimal: { column: { type: 'decimal', precision: 20, scale: 4 }, value: (random) => random(1e9) / 1e4 },
  float: { column: { type: 'float' }, value: (random) => random(1e6) / 64 },
  doublePrecision: { column: { type: 'double precision' }, value: (random) => random(1e9) / 7 },
  boolean: { column: { type: 'boolean' }, value: (random) => random(2) === 1 },
  date: { column: { type: 'date' }, value: day, comparable: true },
  time: { column: { type: 'time' }, value: time, comparable: true },
  simpleArray: {
    column: { type: 'simple-array' },
    value: (random) => one(random, [[], ['a'], ['a', 'b c', 'é']]),
  },
  simpleJson: { column: { type: 'simple-json' }, value: document },
  simpleEnum: {
    column: { type: 'simple-enum', enum: COLORS },
    value: (random) => one(random, COLORS),
    comparable: true,
  },
  numericEnum: { column: { type: 'simple-enum', enum: SIZES }, value: (random) => one(random, SIZES) },
  json: { column: { type: 'json' }, value: document },
  transformed: {
    column: { type: 'bigint', transformer: cents },
    value: (random) => BigInt(random(2 ** 31)) * 1000n,
    comparable: true,
  },
  transformedTwice: {
    column: { type: String, transformer: [backwards, capitals] },
    value: word,
    comparable: true,
  },
  transformedNull: { column: { type: String, transformer: never }, value: word },
  camelCase: { column: { type: String, name: 'Other Name' }, value: word, comparable: true },
  order: { column: { type: Number, name: 'select' }, value: whole, comparable: true },
}

const SQLITE: Record<string, Sample> = {
  ...COMMON,
  tinyint: { column: { type: 'tinyint' }, value: whole, comparable: true },
  mediumint: { column: { type: 'mediumint' }, value: whole, comparable: true },
  unsignedBigint: { column: { type: 'unsigned big int' }, value: (random) => random(1e9) },
  int2: { column: { type: 'int2' }, value: whole },
  int8: { column: { type: 'int8' }, value: whole },
  character: { column: { type: 'character', length: 20 }, value: word },
  nvarchar: { column: { type: 'nvarchar' }, value: text },
  clob: { column: { type: 'clob' }, value: text },
  blob: { column: { type: 'blob' }, value: bytes },
  real: { column: { type: 'real' }, value: (random) => random(1e6) / 64 },
  double: { column: { type: 'double' }, value: (random) => random(1e6) / 7 },
  numeric: { column: { type: 'numeric' }, value: (random) => random(1e6) / 4 },
  datetime: { column: { type: 'datetime' }, value: moment, comparable: true },
  jsonb: { column: { type: 'jsonb' }, value: document },
}

const POSTGRES: Record<string, Sample> = {
  ...COMMON,
  numeric: { column: { type: 'numeric' }, value: digits, comparable: true },
  real: { column: { type: 'real' }, value: (random) => random(1e6) / 64 },
  money: { column: { type: 'money' }, value: (random) => String(random(1e6)) },
  character: { column: { type: 'char', length: 9 }, value: word },
  bytea: { column: { type: 'bytea' }, value: bytes },
  bit: { column: { type: 'bit', length: 4 }, value: () => '0110' },
  varbit: { column: { type: 'varbit' }, value: () => '01' },
  timestamp: { column: { type: 'timestamp' }, value: moment, comparable: true },
  timestamptz: { column: { type: 'timestamptz', precision: 3 }, value: moment, comparable: true },
  timetz: { column: { type: 'time with time zone' }, value: (random) => `${time(random)}+02` },
  interval: { column: { type: 'interval' }, value: (random) => `${random(9)} days ${time(random)}` },
  enum: {
    column: { type: 'enum', enum: COLORS.slice(0, 2) },
    value: (random) => one(random, COLORS.slice(0, 2)),
    comparable: true,
  },
  enums: {
    column: { type: 'enum', enum: COLORS.slice(0, 2), array: true },
    value: (random) => one(random, [[], ['red'], ['green', 'red']]),
  },
  texts: { column: { type: 'text', array: true }, value: (random) => [text(random), text(random)] },
  ints: { column: { type: 'int', array: true }, value: (random) => [whole(random), whole(random)] },
  point: { column: { type: 'point' }, value: (random) => `(${random(9)},${random(9)})` },
  box: { column: { type: 'box' }, value: () => '(2,2),(0,0)' },
  circle: { column: { type: 'circle' }, value: (random) => `<(1,1),${1 + random(9)}>` },
  inet: { column: { type: 'inet' }, value: (random) => `10.0.0.${random(256)}` },
  cidr: { column: { type: 'cidr' }, value: (random) => `10.0.${random(256)}.0/24` },
  macaddr: { column: { type: 'macaddr' }, value: () => '08:00:2b:01:02:03' },
  tsvector: { column: { type: 'tsvector' }, value: word },
  uuid: { column: { type: 'uuid' }, value: uuid, comparable: true },
  xml: { column: { type: 'xml' }, value: (random) => `<a>${random(9)}</a>` },
  jsonb: {
    column: { type: 'jsonb' },
    value: (random) => one(random, [{}, [1, 'a', null], { a: { b: text(random) } }]),
  },
  range: { column: { type: 'int4range' }, value: (random) => `[${random(9)},20)` },
  moments: { column: { type: 'tstzrange' }, value: (random) => `[${moment(random).toISOString()},)` },
}

const MARIADB: Record<string, Sample> = {
  ...COMMON,
  tinyint: { column: { type: 'tinyint' }, value: whole, comparable: true },
  mediumint: { column: { type: 'mediumint' }, value: whole, comparable: true },
  unsigned: { column: { type: 'int', unsigned: true }, value: (random) => random(2 ** 31) },
  bigDigits: { column: { type: 'bigint', unsigned: true }, value: digits, comparable: true },
  double: { column: { type: 'double' }, value: (random) => random(1e6) / 7 },
  bool: { column: { type: 'bool' }, value: (random) => random(2) === 1 },
  datetime: { column: { type: 'datetime' }, value: second, comparable: true },
  timestamp: {
    column: { type: 'timestamp', precision: 3, nullable: true },
    value: (random) => new Date(1e12 + random(1e12)),
    comparable: true,
  },
  year: { column: { type: 'year' }, value: (random) => 1971 + random(99) },
  character: { column: { type: 'char', length: 9 }, value: word, comparable: true },
  mediumtext: { column: { type: 'mediumtext' }, value: text },
  hugeText: { column: { type: 'longtext' }, value: text },
  blob: { column: { type: 'blob' }, value: bytes },
  binary: { column: { type: 'binary', length: 9 }, value: bytes },
  varbinary: { column: { type: 'varbinary', length: 20 }, value: bytes },
  enum: { column: { type: 'enum', enum: COLORS }, value: (random) => one(random, COLORS), comparable: true },
  set: {
    column: { type: 'set', enum: ['a', 'b', 'c'] },
    value: (random) => one(random, [[], ['a'], ['a', 'c']]),
  },
  bit: { column: { type: 'bit' }, value: (random) => Buffer.from([random(2)]) },
}

/** By kind of database, the name of a property and its sample: each type of column that needs no extension. */
export const SAMPLES: Readonly<Record<string, Record<string, Sample>>> = {
  SQLite: SQLITE,
  PostgreSQL: POSTGRES,
  MariaDB: MARIADB,
}
