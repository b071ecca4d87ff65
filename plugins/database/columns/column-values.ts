import type { DataSource } from 'typeorm'
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js'
import { methodOf, utcDayWriter } from '../compat/driver-module.ts'
import { roundedBySqlite } from './exact-numbers.ts'

/** Column types that store an instant. */
const INSTANTS: ReadonlySet<unknown> = new Set([
  Date,
  'datetime',
  'timestamp',
  'timestamptz',
  'timestamp with time zone',
  'timestamp without time zone',
])

/** Column types that a database server reads as a string, because a number would round it. */
const BIGINTS: ReadonlySet<unknown> = new Set(['bigint', 'int8', 'unsigned big int'])

const adapted = new WeakSet<DataSource['driver']>()

/**
 * Makes the values of columns independent of the time zone of the process, where TypeORM would use local time: a string
 * without a zone is an instant in UTC, and a Date in a column `date` is its day in UTC. Refuses a date that the database
 * would store as something else. A `bigint` is a string on every database. A repeated call does nothing.
 */
export function adaptColumnValues({ driver, options }: DataSource): void {
  if (adapted.has(driver)) return
  adapted.add(driver)
  const isSqlite = options.type === 'better-sqlite3'
  const writeUtcDay = utcDayWriter(driver)
  const prepare = methodOf(driver, 'preparePersistentValue')
  const hydrate = methodOf(driver, 'prepareHydratedValue')
  driver.preparePersistentValue = (value, column) => {
    if (column.type === 'date') writeUtcDay(column)
    if (value instanceof Date) checkDate(value, column, isSqlite)
    if (isSqlite) checkDigits(value, column)
    return prepare(isInstant(column) ? inUtc(value) : value, column)
  }
  driver.prepareHydratedValue = (value, column) =>
    hydrate(isInstant(column) ? inUtc(value) : BIGINTS.has(column.type) ? asText(value) : value, column)
  const normalize = methodOf(driver, 'normalizeType')
  // SQLite generates keys only for a column declared as `integer`, which has 64 bits too.
  driver.normalizeType = (column: Parameters<typeof normalize>[0] & { readonly isGenerated?: boolean }) =>
    isSqlite && column.isGenerated && BIGINTS.has(column.type) ? 'integer' : normalize(column)
  const generate = methodOf(driver, 'createGeneratedMap')
  driver.createGeneratedMap = (metadata, ...result) => {
    const map: object | undefined = generate(metadata, ...result)
    for (const column of map ? metadata.generatedColumns : [])
      if (BIGINTS.has(column.type)) column.setEntityValue(map!, asText(column.getEntityValue(map!)))
    return map
  }
}

/** SQLite and MariaDB return a generated number, and SQLite the number of a key that it declares as an integer. */
const asText = (value: unknown): unknown => (typeof value === 'number' ? String(value) : value)

function checkDigits(value: unknown, { type, propertyPath, transformer }: ColumnMetadata): void {
  const limit = transformer === undefined ? roundedBySqlite(type, value) : undefined
  if (limit !== undefined)
    throw new RangeError(
      `The value of the column '${propertyPath}' has more digits than SQLite stores: ${limit}.`,
    )
}

/** A transformer decides itself. */
function isInstant({ type, transformer }: ColumnMetadata): boolean {
  return INSTANTS.has(type) && transformer === undefined
}

const WITHOUT_ZONE = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?$/

/** Reads a string without a zone as UTC. JavaScript reads it as local time, unless it is only a day. */
function inUtc(value: unknown): unknown {
  const [, day, time = '00:00'] = (typeof value === 'string' && WITHOUT_ZONE.exec(value)) || []
  return day === undefined ? value : new Date(`${day}T${time}Z`)
}

function checkDate(value: Date, { propertyPath }: ColumnMetadata, isSqlite: boolean): void {
  const year = value.getUTCFullYear()
  if (Number.isNaN(year))
    throw new RangeError(`The value of the column '${propertyPath}' is an invalid date.`)
  if (isSqlite && (year < 0 || year > 9999))
    throw new RangeError(
      `The value of the column '${propertyPath}' is in the year ${year}. SQLite stores the years 0 to 9999.`,
    )
}
