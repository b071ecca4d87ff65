import { REFUSE_WRITES } from './read-only.ts'

/** Options of mysql2 about time. */
export interface TimeOptions {
  readonly timezone?: string | undefined
  readonly dateStrings?: unknown
}

/**
 * Without these options, mysql2 writes and reads a Date in the time zone of the process. A plain day stays a string, since
 * TypeORM would read the day of a Date in local time.
 */
export const IN_UTC = { timezone: 'Z', dateStrings: ['DATE'] }

/** Adds them to options that do not choose themselves. */
export function inUtc<Options extends TimeOptions>({
  timezone = IN_UTC.timezone,
  dateStrings = IN_UTC.dateStrings,
  ...options
}: Options): Omit<Options, keyof TimeOptions> & TimeOptions {
  return { ...options, timezone, dateStrings }
}

/** The column `isMariaDb` of a query. */
export const IS_MARIADB = "VERSION() LIKE '%MariaDB%' AS isMariaDb"

/** mysql2 escapes quotes in values by a backslash, which ends the string where this mode is on. */
export const ESCAPES = "SET SESSION sql_mode = REPLACE(@@sql_mode, 'NO_BACKSLASH_ESCAPES', '')"

/** Settings of a new session. Its zone decides about `now()` and about every `timestamp`. */
export function settingsOf(
  { timezone }: TimeOptions,
  limit: number | undefined,
  refusesWrites: boolean,
): (isMariaDb: boolean) => string[] {
  return (isMariaDb) => [
    timezone === IN_UTC.timezone ? `${ESCAPES}, time_zone = '+00:00'` : ESCAPES,
    ...(refusesWrites ? [REFUSE_WRITES] : []),
    ...(limit === undefined ? [] : [statementLimit(isMariaDb, limit)]),
  ]
}

/** MariaDB limits every statement, in seconds; MySQL only SELECT, in milliseconds. */
export function statementLimit(isMariaDb: boolean, milliseconds: number): string {
  return isMariaDb
    ? `SET SESSION max_statement_time = ${milliseconds / 1000}`
    : `SET SESSION max_execution_time = ${Math.ceil(milliseconds)}`
}

/** A connection of `mysql2` whose session begins. */
export interface Beginning {
  query(sql: string, done: (error: Error | null) => unknown): unknown
  destroy(): void
}

/** Sends statements before those of the caller, which wait in the queue of the driver. */
export function begin(connection: Beginning, statements: readonly string[]): void {
  for (const sql of statements) connection.query(sql, (error) => error && connection.destroy())
}

/** Options of a pool, which a single connection refuses with a warning. */
const OF_POOL = new Set([
  'connectionLimit',
  'waitForConnections',
  'queueLimit',
  'maxIdle',
  'idleTimeout',
  'resetOnRelease',
  'acquireTimeout',
])

/** Options for a single connection. */
export function withoutPool<Options extends object>(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !OF_POOL.has(name))) as Options
}
