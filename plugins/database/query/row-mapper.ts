import type { DataSource } from 'typeorm'
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js'
import { chooseReader, type ReadValue } from './value-reader.ts'

/** Makes an object from one row. */
export type ReadRow<Given, Row> = (raw: Given) => Row

/** One column of a statement: its place in a row that is an array, and its name in one that is an object. */
interface Field {
  readonly index: number
  readonly name: string
  readonly property: string
  /** Undefined where the driver's value is the entity's value. */
  readonly read: ReadValue | undefined
}

/** The columns of one object of the entity, in the order in which TypeORM sets its properties. */
interface Shape {
  readonly fields: Field[]
  readonly embedded: Map<string, Shape>
}

/**
 * Makes the two functions that turn a row into an object of the entity's shape: the reading of each value is chosen
 * here, once, from the metadata of its column. `test/plugins/database/query-differential.test.ts` compares with TypeORM.
 */
export function createRowMapper(
  driver: DataSource['driver'],
  columns: readonly ColumnMetadata[],
): {
  readonly ofArray: ReadRow<readonly unknown[], object>
  readonly ofRecord: ReadRow<Readonly<Record<string, unknown>>, object>
} {
  const shape: Shape = { fields: [], embedded: new Map() }
  for (const [index, column] of columns.entries()) {
    const parents = column.propertyPath.split('.').slice(0, -1)
    const { databaseName: name, propertyName: property } = column
    placeOf(shape, parents).fields.push({ index, name, property, read: chooseReader(driver, column) })
  }
  return { ofArray: reader(shape, 'index') as never, ofRecord: reader(shape, 'name') }
}

function placeOf(shape: Shape, parents: readonly string[]): Shape {
  let place = shape
  for (const parent of parents) {
    const next = place.embedded.get(parent) ?? { fields: [], embedded: new Map() }
    place.embedded.set(parent, next)
    place = next
  }
  return place
}

type Raw = Readonly<Record<string | number, unknown>>

function reader({ fields, embedded }: Shape, key: 'index' | 'name'): (raw: Raw) => object {
  const keys = fields.map((field) => field[key])
  const properties = fields.map(({ property }) => property)
  const reads = fields.map(({ read }) => read)
  const inner = [...embedded].map(([property, shape]) => [property, reader(shape, key)] as const)
  const count = fields.length
  return (raw) => {
    const row: Record<string, unknown> = {}
    for (let i = 0; i < count; i++) {
      const value = raw[keys[i]!]
      const read = reads[i]
      row[properties[i]!] = read === undefined ? value : read(value)
    }
    for (const [property, readInner] of inner) row[property] = readInner(raw)
    return row
  }
}
