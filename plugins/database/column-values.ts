import type { DataSource } from 'typeorm'
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js'

/** Column types that store an instant. */
const INSTANTS: ReadonlySet<unknown> = new Set([
  Date,
  'datetime',
  'timestamp',
  'timestamptz',
  'timestamp with time zone',
  'timestamp without time zone',
])

const adapted = new WeakSet<DataSource['driver']>()

/**
 * Makes the values of columns independent of the time zone of the process, where TypeORM would use local time: a string
 * without a zone is an instant in UTC, and a Date in a column `date` is its day in UTC. Refuses a date that the database
 * would store as something else. A repeated call does nothing.
 */
export function adaptColumnValues({ driver, options }: DataSource): void {
  if (adapted.has(driver)) return
  adapted.add(driver)
  const isSqlite = options.type === 'better-sqlite3'
  const prepare = driver.preparePersistentValue.bind(driver)
  const hydrate = driver.prepareHydratedValue.bind(driver)
  driver.preparePersistentValue = (value, column) => {
    if (column.type === 'date') column.utc = true
    if (value instanceof Date) checkDate(value, column, isSqlite)
    return prepare(isInstant(column) ? inUtc(value) : value, column)
  }
  driver.prepareHydratedValue = (value, column) => hydrate(isInstant(column) ? inUtc(value) : value, column)
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
