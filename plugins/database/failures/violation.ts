import { inCauses } from 'mortar/kit'
import { uniqueColumns } from './unique-keys.ts'

/**
 * Meaning of a refused statement. `invalid_value` is a value that the type of its column cannot express, such as
 * `'abc'` for a uuid. `invalid_text` is a string with a character that the database cannot store, such as U+0000 on
 * PostgreSQL. `exclusion` exists on PostgreSQL only.
 */
export type ViolationKind =
  | 'duplicate_key'
  | 'foreign_key'
  | 'not_null'
  | 'check'
  | 'exclusion'
  | 'too_long'
  | 'out_of_range'
  | 'invalid_value'
  | 'invalid_text'

/** The reason for which a database refused a statement, with the names that the database tells. It has no values. */
export interface Violation {
  readonly kind: ViolationKind
  readonly table?: string
  /** Names of the columns in the database. An index on an expression has none, or the expression on PostgreSQL. */
  readonly columns?: readonly string[]
  /** Name of the constraint or index. SQLite tells it only for checks and for indices on expressions. */
  readonly constraint?: string
}

/**
 * Returns the reason for which the database refused a statement, or undefined for any other error. Knows the errors of
 * SQLite (also by libsql), PostgreSQL, MariaDB and MySQL, thrown by the driver or by TypeORM, or as the `cause` of
 * another error.
 */
export function violation(error: unknown): Violation | undefined {
  return inCauses(error, (each) => ofDriver(each['driverError'] ?? each))
}

/**
 * Returns the violation if a unique constraint or a primary key refused the statement. With names, only if they are all
 * columns of that key, in any order, or one name is that of the constraint: `duplicateKey(error, 'slug')`.
 */
export function duplicateKey(error: unknown, ...key: readonly string[]): Violation | undefined {
  const found = violation(error)
  if (found?.kind !== 'duplicate_key') return undefined
  const { columns, constraint } = found
  const isKey =
    key.length === 0 ||
    (key.length === 1 && key[0] === constraint) ||
    (columns?.length === key.length && columns.every((column) => key.includes(column)))
  return isKey ? found : undefined
}

/** The members of the drivers' errors. `errno` and `sql` are those of mysql2, the names those of pg. */
interface DriverError {
  readonly code?: unknown
  readonly errno?: unknown
  readonly message?: unknown
  readonly sql?: unknown
  readonly table?: string
  readonly column?: string
  readonly constraint?: string
  readonly detail?: string
}

function ofDriver(given: unknown): Violation | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const error = given as DriverError
  const code = String(error.code)
  const sqlite = SQLITE[code]
  if (sqlite !== undefined) return ofSqlite(sqlite, String(error.message))
  const postgres = POSTGRES[code]
  if (postgres !== undefined) return ofPostgres(postgres, error)
  const mysql = typeof error.errno === 'number' ? MYSQL[error.errno] : undefined
  return mysql && ofMysql(mysql, error)
}

/** Codes of better-sqlite3 and libsql; the last is that of our adapter for libsql. */
const SQLITE: Readonly<Record<string, ViolationKind>> = {
  SQLITE_CONSTRAINT_UNIQUE: 'duplicate_key',
  SQLITE_CONSTRAINT_PRIMARYKEY: 'duplicate_key',
  SQLITE_CONSTRAINT_ROWID: 'duplicate_key',
  SQLITE_CONSTRAINT_FOREIGNKEY: 'foreign_key',
  SQLITE_CONSTRAINT_NOTNULL: 'not_null',
  SQLITE_CONSTRAINT_CHECK: 'check',
  SQLITE_CONSTRAINT_DATATYPE: 'invalid_value',
  SQLITE_MISMATCH: 'invalid_value',
  SQLITE_TOOBIG: 'too_long',
  ERR_INVALID_TEXT: 'invalid_text',
}

/** SQLite writes `t.a, t.b` without quotes, and the index of an expression as `index 'name'`. */
function ofSqlite(kind: ViolationKind, message: string): Violation {
  const place = /constraint failed: (?<place>.+)$/.exec(message)?.groups?.['place']
  if (place === undefined) return { kind }
  if (kind === 'check') return { kind, constraint: place }
  const index = /^index '(?<name>.+)'$/.exec(place)?.groups?.['name']
  if (index !== undefined) return { kind, constraint: index }
  const columns = place.split(', ').map((path) => path.slice(path.indexOf('.') + 1))
  return { kind, table: place.slice(0, place.indexOf('.')), columns }
}

/** SQLSTATE of PostgreSQL. */
const POSTGRES: Readonly<Record<string, ViolationKind>> = {
  '23505': 'duplicate_key',
  '23503': 'foreign_key',
  '23001': 'foreign_key',
  '23502': 'not_null',
  '23514': 'check',
  '23P01': 'exclusion',
  '22001': 'too_long',
  '22003': 'out_of_range',
  '22008': 'out_of_range',
  '22007': 'invalid_value',
  '22P02': 'invalid_value',
  '22P03': 'invalid_value',
  '22021': 'invalid_text',
  '22P05': 'invalid_text',
}

function ofPostgres(kind: ViolationKind, { table, column, constraint, detail }: DriverError): Violation {
  const columns = column === undefined ? kind === 'duplicate_key' && columnsOf(detail) : [column]
  return { kind, ...(table && { table }), ...(columns && { columns }), ...(constraint && { constraint }) }
}

/** Reads `Key (a, "b c")=(1, 2) already exists.` in any language. The values follow the columns. */
function columnsOf(detail = ''): string[] | undefined {
  const list = /\((?<columns>.+?)\)=\(/.exec(detail)?.groups?.['columns']
  return list?.match(/"(?:[^"]|"")+"|[^,\s"](?:[^,(]|\([^)]*\))*/g)?.map(unquoted)
}

function unquoted(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name
}

/** Numbers of MariaDB and MySQL. mysql2 has no names for those of MariaDB alone, or wrong ones. */
const MYSQL: Readonly<Record<number, ViolationKind>> = {
  1062: 'duplicate_key',
  1586: 'duplicate_key',
  1216: 'foreign_key',
  1217: 'foreign_key',
  1451: 'foreign_key',
  1452: 'foreign_key',
  1048: 'not_null',
  1364: 'not_null',
  3819: 'check',
  4025: 'check',
  1406: 'too_long',
  1264: 'out_of_range',
  1690: 'out_of_range',
  1265: 'invalid_value',
  1292: 'invalid_value',
  1366: 'invalid_value',
}

/** Patterns of the table, the column and the constraint in messages of MariaDB and MySQL. A value comes before them. */
const MYSQL_NAMES: readonly RegExp[] = [
  / for key '(?:[^'.]+\.)?(?<constraint>[^']+)'$/,
  /CONSTRAINT `(?<constraint>(?:[^`]|``)+)`/,
  /Check constraint '(?<constraint>[^']+)'/,
  /(?:failed for|fails \()\s*`[^`]+`\.`(?<table>[^`]+)`/,
  /for column `[^`]+`\.`(?<table>[^`]+)`\.`(?<column>[^`]+)` at row \d+$/,
  /(?:[Cc]olumn|Field) '(?<column>[^']+)'(?: at row \d+| cannot be null| doesn't have a default value)$/,
]

/** The first words of a statement that writes to one table. */
const WRITES =
  /^\s*(?:insert|replace|update)\s+(?:(?:low_priority|delayed|high_priority|ignore|into)\s+)*(?:(?:`[^`]+`|[\w$]+)\.)?`?(?<table>(?<=`)[^`]+|[\w$]+)/i

function ofMysql(kind: ViolationKind, { message, sql }: DriverError): Violation {
  const found = MYSQL_NAMES.map((pattern) => pattern.exec(String(message))?.groups)
  const names = Object.assign({}, WRITES.exec(String(sql))?.groups, ...found) as MysqlNames
  const { table, column, constraint } = names
  const isKey = kind === 'duplicate_key' && constraint !== undefined
  const columns = isKey ? uniqueColumns(constraint, table) : column && [column]
  return { kind, ...(table && { table }), ...(columns && { columns }), ...(constraint && { constraint }) }
}

type MysqlNames = Pick<Violation, 'table' | 'constraint'> & { readonly column?: string }
