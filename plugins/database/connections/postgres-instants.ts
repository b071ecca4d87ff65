/*
 * pg writes and reads a `timestamp` in the time zone of the process. So processes in two zones would read different
 * instants, and the hour that autumn repeats would lose one. Here a Date is written and read in UTC, whatever TZ says,
 * only for the connections of this brick: `pg.types` and `pg.defaults` belong to every user of the package.
 * test/plugins/database/instants.test.ts holds all three engines to that.
 */
import { millisecondsOf } from '../columns/read-moment.ts'

type Parse = (text: string) => unknown

/** pg's option `types`. */
export interface PgTypes {
  getTypeParser(type: number, format?: string): Parse
}

/** Settings of the session, sent with its start. A pooler knows both, as JDBC sends the same. */
export const UTC_SESSION = { TimeZone: 'UTC', DateStyle: 'ISO' }

/** Numbers of PostgreSQL's types, each with its array. */
const INSTANTS = { timestamp: 1114, timestamptz: 1184, timestamps: 1115, timestamptzs: 1185 }
const DAYS = { date: 1082, dates: 1182 }

/** Reads instants as UTC and plain days as strings. Other types are read as `types` reads them. */
export function utcTypes(types: PgTypes): PgTypes {
  const list = listOf(types)
  const parsers = new Map<number, Parse>([
    [INSTANTS.timestamp, readInstant],
    [INSTANTS.timestamptz, readInstant],
    [INSTANTS.timestamps, list(readInstant)],
    [INSTANTS.timestamptzs, list(readInstant)],
    [DAYS.date, (text) => text],
    [DAYS.dates, list((text) => text)],
  ])
  return {
    getTypeParser: (type, format) =>
      (format === 'binary' ? undefined : parsers.get(type)) ?? types.getTypeParser(type, format),
  }
}

/** Number of `text[]`, whose parser gives the items as strings. */
const TEXTS = 1009

type Items = readonly (Items | string | null)[]

function listOf(types: PgTypes): (parse: Parse) => Parse {
  const split = types.getTypeParser(TEXTS)
  const read = (items: Items, parse: Parse): unknown[] =>
    items.map((item) => (item === null ? null : typeof item === 'string' ? parse(item) : read(item, parse)))
  return (parse) => (text) => read(split(text) as Items, parse)
}

function readInstant(text: string): unknown {
  const time = millisecondsOf(text)
  return Number.isNaN(time) ? readRareInstant(text) : new Date(time)
}

const INSTANT =
  /^(\d{4,})(-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d+)?(?:([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?)?( BC)?$/

/**
 * Reads a year before 100 or after 9999, BC, `infinity` (a number, as pg gives it) and an offset, which only a session
 * with another zone writes. Any other string stays as it is.
 */
function readRareInstant(text: string): unknown {
  if (text === 'infinity') return Infinity
  if (text === '-infinity') return -Infinity
  const parts = INSTANT.exec(text)
  if (parts === null) return text
  const [, digits, day, time, fraction = '', sign, ...rest] = parts
  const year = rest.pop() === undefined ? Number(digits) : 1 - Number(digits)
  const years = `${year < 0 ? '-' : '+'}${String(Math.abs(year)).padStart(6, '0')}`
  const offset = rest.reduce((sum, part: string | undefined) => sum * 60 + Number(part ?? 0), 0) * 1000
  const local = Date.parse(`${years}${day}T${time}${fraction.slice(0, 4)}Z`)
  return new Date(sign === '-' ? local + offset : local - offset)
}

/** Replaces the dates among the parameters of a call of `client.query()`. The caller's objects are not changed. */
export function withUtcDates(args: readonly unknown[]): readonly unknown[] {
  const [statement, values] = args
  if (Array.isArray(values)) {
    const written = writeAll(values)
    return written === values ? args : [statement, written, ...args.slice(2)]
  }
  // A query object such as a cursor prepares its own values.
  if (typeof statement !== 'object' || statement === null || 'submit' in statement) return args
  const { values: own } = statement as { readonly values?: unknown }
  const written = Array.isArray(own) ? writeAll(own) : own
  return written === own ? args : [{ ...statement, values: written }, ...args.slice(1)]
}

/** Copies a list only if something in it has to be written. */
function writeAll(values: readonly unknown[]): readonly unknown[] {
  return values.some((value) => write(value) !== value) ? values.map(write) : values
}

interface PostgresValue {
  toPostgres(prepare: (value: unknown) => unknown): unknown
}

function write(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? value : inUtc(value)
  if (Array.isArray(value)) return writeAll(value)
  const { toPostgres } = value as Partial<PostgresValue>
  if (typeof toPostgres !== 'function') return value
  return {
    toPostgres: (prepare: (value: unknown) => unknown) =>
      write(toPostgres.call(value, (inner) => prepare(write(inner)))),
  }
}

/** PostgreSQL ignores the offset where it reads a `timestamp`, and uses it for a `timestamptz`. */
function inUtc(date: Date): string {
  const iso = date.toISOString()
  const year = date.getUTCFullYear()
  if (year >= 1 && year <= 9999) return iso
  const rest = iso.slice(iso.indexOf('-', 1))
  return year > 9999 ? `${year}${rest}` : `${String(1 - year).padStart(4, '0')}${rest} BC`
}
