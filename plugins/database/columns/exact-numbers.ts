/*
 * better-sqlite3 reads every integer as a number, which rounds those beyond 2^53, and a decimal without its zeros. The
 * other drivers read both as strings. Here SQLite does too: a statement that selects such a column reads its integers as
 * BigInt; these become strings, or numbers again in the other columns.
 * test/plugins/database/large-numbers.test.ts compares the databases.
 */
import type { SqliteConnection } from '../compat/typeorm.ts'

const BIGINT = /^(?:big ?int|int8|unsigned big int)\b/i
const DECIMAL = /^(?:decimal|numeric)\b(?: ?\(\d+(?:, ?(\d+))?\))?/i

/** The used part of a statement of better-sqlite3. */
interface Statement {
  readonly reader: boolean
  /** `type` is the declared type; null for an expression. */
  columns(): readonly { readonly name: string; readonly type: string | null }[]
  safeIntegers(): unknown
  all(...values: readonly unknown[]): readonly unknown[]
}

type Read = (value: unknown) => unknown

/** Makes the statements of a connection read large numbers as strings. Other statements are not changed. */
export function readExactly(connection: SqliteConnection): void {
  const prepare = connection.prepare.bind(connection)
  connection.prepare = (sql) => {
    const statement = prepare(sql)
    makeExact(statement as unknown as Statement)
    return statement
  }
}

function makeExact(statement: Statement): void {
  const columns = statement.reader ? statement.columns() : []
  const readers = columns.map(({ type }) => readerOf(type ?? ''))
  if (readers.every((read) => read === toNumber)) return
  const byName = new Map(columns.map(({ name }, index) => [name, readers[index]!]))
  const all = statement.all.bind(statement)
  statement.safeIntegers()
  statement.all = (...values) => all(...values).map((row) => (Array.isArray(row) ? array(row) : record(row)))

  function array(row: readonly unknown[]): unknown[] {
    return row.map((value, index) => (readers[index] ?? toNumber)(value))
  }
  function record(row: unknown): object {
    const entries = Object.entries(row as object).map(([name, value]) => [
      name,
      (byName.get(name) ?? toNumber)(value),
    ])
    return Object.fromEntries(entries) as object
  }
}

function readerOf(type: string): Read {
  if (BIGINT.test(type)) return toText
  const decimal = DECIMAL.exec(type)
  if (decimal === null) return toNumber
  if (!decimal[0].endsWith(')')) return toText
  const scale = Number(decimal[1] ?? 0)
  return (value) => withScale(value, scale)
}

const toNumber: Read = (value) => (typeof value === 'bigint' ? Number(value) : value)

const toText: Read = (value) =>
  typeof value === 'bigint' || typeof value === 'number' ? String(value) : value

function withScale(value: unknown, scale: number): unknown {
  if (typeof value === 'number') return value.toFixed(scale)
  if (typeof value !== 'bigint') return value
  return scale === 0 ? String(value) : `${value}.${'0'.repeat(scale)}`
}

/**
 * Returns the reason for which SQLite would round a value of a column of this declared type, else undefined. It stores 64
 * bits of an integer and 15 digits of a fraction.
 */
export function roundedBySqlite(type: unknown, value: unknown): string | undefined {
  const name = String(type)
  const isDecimal = DECIMAL.test(name)
  if ((!isDecimal && !BIGINT.test(name)) || (typeof value !== 'string' && typeof value !== 'bigint'))
    return undefined
  const [, whole, fraction = ''] = /^[-+]?0*(\d*)(?:\.(\d*?)0*)?$/.exec(String(value)) ?? []
  if (whole === undefined) return undefined
  if (fraction === '') return isInt64(BigInt(String(value).split('.')[0]!)) ? undefined : '64 bits'
  return isDecimal && `${whole}${fraction}`.replace(/^0+/, '').length > 15 ? '15 digits' : undefined
}

const isInt64 = (value: bigint): boolean => BigInt.asIntN(64, value) === value
