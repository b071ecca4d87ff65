import { expect } from 'chai'
import { type DataSource, EntitySchema, type EntitySchemaColumnOptions } from 'typeorm'
import { param, query } from '@mortar/database'
import { valueCheck } from '../../../plugins/database/query/check-value.ts'
import { KINDS } from './databases.ts'

/** Values that a body of JSON or text can have and that databases convert silently. */
const HOSTILE: readonly unknown[] = [
  [0, -0, 1, 0n, Number.NaN, Infinity, false, true],
  ['', ' ', '0', '00', 'x', 'true', 'false', "' or 1=1 --", '0x0', '0000-00-00', '00:00'],
].flat()

function same(content: string, types: string): Record<string, string> {
  return Object.fromEntries(types.split(', ').map((type) => [type, content]))
}

const keep = { to: (value: unknown) => value, from: (value: unknown) => value }

/** Columns whose options or content are not those of a string. */
const COLUMNS: Readonly<Record<string, Partial<EntitySchemaColumnOptions>>> = {
  enum: { enum: ['secret', 'other'] },
  'simple-enum': { enum: ['secret', 'other'] },
  set: { enum: ['secret', 'other'] },
  decimal: { precision: 9, scale: 2 },
  varchar: { length: 9 },
  nvarchar: { length: 9 },
  'national varchar': { length: 9 },
  char: { length: 9 },
  nchar: { length: 9 },
  'national char': { length: 9 },
  character: { length: 6 },
  'native character': { length: 9 },
  binary: { length: 6 },
  varbinary: { length: 9 },
  vector: { length: 2 },
}

/** Content by type; every other type stores the text `secret`. */
const CONTENT: Readonly<Record<string, string>> = {
  ...same(
    '0',
    'int, integer, tinyint, smallint, mediumint, bigint, unsigned big int, int2, int4, int8, float',
  ),
  ...same('0', 'float4, float8, real, double, double precision, dec, decimal, numeric, fixed, money'),
  ...same('0', 'bit, varbit, bit varying'),
  ...same('false', 'boolean, bool'),
  ...same('2026-01-02', 'date, datetime, timestamp, timestamptz'),
  ...same('2026-01-02', 'timestamp without time zone, timestamp with time zone'),
  ...same('00:00:00', 'time, timetz, time without time zone, time with time zone'),
  ...same('"secret"', 'json, jsonb, simple-json'),
  ...same(
    '{}',
    'int4multirange, int8multirange, nummultirange, tsmultirange, tstzmultirange, datemultirange',
  ),
  year: '2026',
  uuid: '6ba7b810-9dad-41d1-80b4-00c04fd430c8',
  inet: '10.0.0.1',
  inet4: '10.0.0.1',
  inet6: '::1',
  cidr: '10.0.0.0/8',
  macaddr: '08:00:2b:01:02:03',
  macaddr8: '08:00:2b:01:02:03:04:05',
  interval: '1 day',
  point: '(0,0)',
  line: '{1,-1,0}',
  lseg: '[(0,0),(1,1)]',
  box: '(1,1),(0,0)',
  path: '[(0,0),(1,1)]',
  polygon: '((0,0),(1,1))',
  circle: '<(0,0),1>',
  xml: '<a/>',
  jsonpath: '$',
  int4range: '[0,1)',
  int8range: '[0,1)',
  numrange: '[0,1)',
  tsrange: '[2026-01-01,)',
  tstzrange: '[2026-01-01,)',
  daterange: '[2026-01-01,)',
}

/** Values that rightly equal the content of their column. */
function isEqual(type: string, value: unknown): boolean {
  if (typeof value === 'string' && value === CONTENT[type]) return true
  if (['boolean', 'bool'].includes(type)) return value === false
  if (CONTENT[type] === '0')
    return [0, 0n, '0', '00'].includes(value as never) || (type === 'bit' && value === false)
  // Both are equal to the text in the column.
  return CONTENT[type] === '00:00:00' && value === '00:00'
}

for (const [kind, prepare] of Object.entries(KINDS))
  describe(`A parameter of query() on ${kind}`, () => {
    const place = prepare()

    it('equals no content of another type, whatever the type of the column', async () => {
      const { types, leftOut } = await usableTypes(await place().open())
      const entity = entityOf(types, kind)
      const source = await place().open([entity])
      await source.synchronize()
      await insert(source, entity, types, kind)
      const found: string[] = []
      for (const [index, { type }] of types.entries()) {
        const where = { [`c${index}`]: param('value') } as object
        const search = query(entity as EntitySchema<object>, { select: ID, where })
        const own = ownValue(type)
        if (own !== undefined && (await (search.all as Search)(source, { value: own })).length !== 1)
          found.push(`${type} is not ${String(own)}`)
        for (const value of HOSTILE) {
          if (isEqual(type, value)) continue
          const rows = await (search.all as Search)(source, { value }).catch(() => [])
          if (rows.length > 0) found.push(`${type} = ${typeof value} ${String(value)}`)
        }
      }
      expect(found).to.eql([])
      expect(types.length, 'tested types').to.be.greaterThan(leftOut.length * 3)
    })
  })

const DATES =
  'date, datetime, timestamp, timestamptz, timestamp with time zone, timestamp without time zone'.split(', ')

/** A column with values that equal its content rightly, and with others. */
const COMPARED: readonly {
  readonly column: object
  readonly accepted: readonly unknown[]
  readonly refused: readonly unknown[]
}[] = [
  { column: { type: 'int' }, accepted: [1, 1n, '12', '-1.5'], refused: ['', '1x', true, Number.NaN] },
  { column: { type: 'bit' }, accepted: [true, 1, 1n, '1'], refused: ['', 'x'] },
  { column: { type: 'money' }, accepted: [5, 5n, '$1,000.00'], refused: ['', '$', true] },
  { column: { type: 'time' }, accepted: ['08:15', '-12:00:00', '838:59:59'], refused: ['', '8', 8, true] },
  ...DATES.map((type) => ({
    column: { type },
    accepted: ['2026-01-02', '2026-1-2', '+010000-01-01', '-000044-03-15'],
    refused: ['', '2026', 2026, false],
  })),
  { column: { type: 'enum', enum: [1, 2] }, accepted: [1, 'a'], refused: [3, 0n, true] },
  { column: { type: 'polygon' }, accepted: ['((0,0),(1,1))', { x: 0 }], refused: [0, true] },
  {
    column: { type: 'varchar', transformer: [{ to: Number }, { to: String }] },
    accepted: [5, '5', true],
    refused: [],
  },
]

describe('The check of a parameter of query()', () => {
  for (const { column, accepted, refused } of COMPARED)
    it(`accepts what a column can equal: ${JSON.stringify(column)}`, () => {
      const check = valueCheck(
        { propertyPath: 'c', ...column } as never,
        { options: { type: 'postgres' } } as never,
      )
      for (const value of accepted) expect(() => check(value, 'value'), String(value)).not.to.throw()
      for (const value of refused)
        expect(() => check(value, 'value'), String(value)).to.throw("'value' of the column 'c'")
    })
})

/** A value that finds the row; undefined for types that have no simple one. */
function ownValue(type: string): unknown {
  if (/^(?:boolean|bool)$/.test(type)) return false
  if (/int|float|real|double|dec|numeric|fixed/.test(type) && CONTENT[type] === '0') return 0
  return /text|char|clob|enum|^uuid$/.test(type) ? (CONTENT[type] ?? 'secret') : undefined
}

const ID: object = { id: true }

type Search = (source: DataSource, values: object) => Promise<object[]>

interface Tested {
  readonly type: string
  readonly transformer?: typeof keep
}

/** Types of extensions and of geometry are left out: `query()` refuses the second. */
const LEFT_OUT =
  /^(?:citext|hstore|cube|ltree|halfvec|vector|geometry.*|geography|linestring|multi(?:point|linestring|polygon))$/

async function usableTypes(source: DataSource): Promise<{ types: Tested[]; leftOut: string[] }> {
  const { driver } = source
  const all: string[] = [
    ...new Set([...driver.supportedDataTypes.map(String), 'simple-array', 'simple-json', 'simple-enum']),
  ]
  const isLeftOut = (type: string): boolean =>
    LEFT_OUT.test(type) || driver.spatialTypes.includes(type as never)
  const types = all.filter((type) => !isLeftOut(type)).map((type) => ({ type }))
  return {
    types: [...types, { type: 'varchar', transformer: keep }, { type: 'decimal', transformer: keep }],
    leftOut: all.filter(isLeftOut),
  }
}

function entityOf(types: readonly Tested[], kind: string): EntitySchema {
  const columns = types.map(({ type, transformer }, index): [string, EntitySchemaColumnOptions] => [
    `c${index}`,
    {
      type: type as 'text',
      nullable: true,
      ...(kind === 'SQLite' && type !== 'decimal' ? {} : COLUMNS[type]),
      ...(type.endsWith('enum') && COLUMNS[type]),
      ...(transformer && { transformer }),
    },
  ])
  return new EntitySchema({
    name: 'everything',
    columns: { id: { type: Number, primary: true }, ...Object.fromEntries(columns) },
  })
}

/** Writes the contents as SQL text, so that TypeORM converts nothing. */
async function insert(source: DataSource, entity: EntitySchema, types: readonly Tested[], kind: string) {
  const escape = (name: string) => source.driver.escape(name)
  const table = source.getMetadata(entity).tablePath.split('.').map(escape).join('.')
  const values = types.map(({ type }) => {
    const content = CONTENT[type] ?? 'secret'
    const isBare = content === 'false' || (type === 'bit' && kind === 'MariaDB')
    return isBare ? content : `'${content}'`
  })
  const names = types.map((_, index) => escape(`c${index}`))
  await source.query(`insert into ${table} (id, ${names.join(', ')}) values (1, ${values.join(', ')})`)
}
