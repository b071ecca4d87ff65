import type { HttpError } from 'mortar'
import {
  databaseFaultOf,
  errorCode,
  missingColumn,
  missingTable,
  nameOfTable,
  retryRolledBack,
  type Runner,
  runInPool,
  type StatementResult,
} from 'mortar/kit'
import { DatabaseUnavailable, MissingColumn, MissingTable } from '../errors.ts'
import { fragmentOf, isNumbered, isSqlite } from './fragments.ts'

/** The part of a TypeORM DataSource that the store uses. */
export interface DataSourceLike {
  readonly options: { readonly type: string; readonly entityPrefix?: string }
  readonly isInitialized: boolean
  readonly entityMetadatas: readonly EntityMetadataLike[]
  readonly driver: {
    prepareHydratedValue(value: unknown, column: never): unknown
    preparePersistentValue(value: unknown, column: never): unknown
    escape(name: string): string
  }
  createQueryRunner(mode?: 'master' | 'slave'): Pick<Runner, 'query' | 'release'>
}

/** The part of TypeORM's entity metadata that the store reads. */
export interface EntityMetadataLike {
  readonly tableName: string
  readonly columns: readonly ColumnMetadataLike[]
}

/** The part of TypeORM's column metadata that the store reads. */
export interface ColumnMetadataLike {
  readonly propertyName: string
  readonly databaseName: string
  readonly isSelect: boolean
}

/**
 * Runs one statement. Each `?` is a parameter, `{now}` the database's current time in milliseconds since the epoch,
 * `{bytes}` the type of texts that are compared byte by byte, and `{share}` at the end of a select keeps its rows
 * unchanged until the statement is committed.
 */
export type Run = (text: string, values: readonly unknown[]) => Promise<StatementResult>

/** Runs one statement in the form of `Run`. Interpolated values become parameters, never part of the SQL. */
export type Sql = (text: TemplateStringsArray, ...values: readonly unknown[]) => Promise<StatementResult>

/** Creates a tag that runs one SQL statement: `` sql`delete from t where id = ${id}` ``. */
export function sqlOf(run: Run): Sql {
  return (text, ...values) => run(text.join('?'), values)
}

/**
 * Creates the function that runs statements on a DataSource. Statements are written out instead of built from entities,
 * so that they work whether or not the application has registered the entities, and a missing table is the database's
 * own error.
 * @param perform performs a statement; by default on a connection of the pool.
 * @throws MissingTable or MissingColumn if one does not exist. Any other failure keeps only the driver's message
 * and code, because TypeORM's error contains the parameters.
 */
export function createRun(source: () => DataSourceLike, perform: typeof runInPool = runInPool): Run {
  const written = new Map<string, Written>()
  return async (text, values) => {
    const dataSource = source()
    if (!dataSource.isInitialized) throw new Error(NOT_CONNECTED)
    let found = written.get(text)
    if (found?.dataSource !== dataSource)
      written.set(text, (found = { dataSource, statement: statementOf(dataSource, text) }))
    const { statement } = found
    const parameters = values.map(bindable(dataSource))
    try {
      // A deadlock victim is rolled back; a single statement can safely be repeated.
      return await retryRolledBack(() => perform(dataSource, statement, parameters))
    } catch (error) {
      throw translate(error)
    }
  }
}

/** A statement, and the DataSource for which it was written. */
interface Written {
  readonly dataSource: DataSourceLike
  readonly statement: string
}

/** Names in quotes, which stay as they are; parameters, words and tables of the brick. */
const PIECES = /(["`]).*?\1|\?|\{(?:now|share|bytes)\}|\bauth_\w+/g

function statementOf(dataSource: DataSourceLike, text: string): string {
  let parameters = 0
  return text.replaceAll(PIECES, (piece, quote?: string) => {
    if (quote !== undefined) return piece
    if (piece === '?') return isNumbered(dataSource) ? `$${++parameters}` : piece
    return piece.startsWith('{') ? fragmentOf(dataSource, piece) : nameOfTable(dataSource, piece)
  })
}

const NOT_CONNECTED =
  'The DataSource of basicAuth() is not connected. Register database(dataSource), which connects it at the start, ' +
  'or await dataSource.initialize() before.'

/** Waits for an insertion. @returns false if a row with the same unique value already exists. */
export async function unlessTaken(insertion: Promise<unknown>): Promise<boolean> {
  try {
    await insertion
    return true
  } catch (error) {
    if (isUniqueViolation(error)) return false
    throw error
  }
}

const UNIQUE_VIOLATIONS: ReadonlySet<unknown> = new Set([
  'SQLITE_CONSTRAINT_UNIQUE',
  'SQLITE_CONSTRAINT_PRIMARYKEY',
  '23505',
  'ER_DUP_ENTRY',
])

/** True for a driver's "unique constraint violated": SQLite, PostgreSQL, MariaDB and MySQL. */
function isUniqueViolation(error: unknown): boolean {
  return UNIQUE_VIOLATIONS.has(errorCode(error))
}

/**
 * Converts a Date for storage. SQLite has no dates, so TypeORM stores UTC text there, which sorts by time. Other
 * drivers bind a Date.
 */
function bindable(dataSource: DataSourceLike): (value: unknown) => unknown {
  if (!isSqlite(dataSource)) return (value) => value
  return (value) => (value instanceof Date ? value.toISOString().replace('T', ' ').replace('Z', '') : value)
}

/** @returns the value of a date column as a Date for every driver; null stays null. */
export function dateOf(dataSource: DataSourceLike, value: unknown): Date | null {
  if (value instanceof Date) return value
  if (typeof value !== 'string') return null
  return new Date(isSqlite(dataSource) ? value.replace(' ', 'T').replace(/Z?$/, 'Z') : value)
}

function translate(error: unknown): Error {
  // The dedicated connection throws the driver's error itself.
  const driverError = (error as { driverError?: Error }).driverError ?? error
  if (!(driverError instanceof Error)) return new Error(String(error))
  const table = missingTable(driverError)
  if (table !== undefined) return new MissingTable(table, driverError)
  const column = missingColumn(driverError)
  return column === undefined ? new FailedStatement(driverError) : new MissingColumn(column, driverError)
}

/**
 * The driver's message and code. `driverError`, named as in TypeORM's error, lets the database brick recognise a lost
 * connection or a busy database. It is not logged, because a driver may add values of the row.
 */
class FailedStatement extends Error {
  readonly code: unknown
  readonly #driverError: Error

  constructor(driverError: Error) {
    super(driverError.message)
    this.code = (driverError as { code?: unknown }).code
    this.#driverError = driverError
  }

  get driverError(): Error {
    return this.#driverError
  }
}

/**
 * Returns the 503 for a statement of this provider whose database cannot be reached or is busy; undefined for any other
 * error. With the database brick, that brick recognises the error first and has problem codes of its own.
 */
export function explainUnavailable(error: unknown): HttpError | undefined {
  const isKnown = error instanceof FailedStatement && databaseFaultOf(error.driverError) !== undefined
  return isKnown ? new DatabaseUnavailable(error) : undefined
}
