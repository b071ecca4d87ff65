/** The part of a DataSource that decides the dialect. */
interface Dialect {
  readonly options: { readonly type: string }
}

/** An interpolated `DATABASE_NOW` becomes the database's current time in milliseconds since the epoch. */
export const DATABASE_NOW = Symbol('the current time of the database')

/** An interpolated `SHARE_LOCK` at the end of a select keeps the rows that were read unchanged until the statement is committed. */
export const SHARE_LOCK = Symbol('a shared lock on the selected rows')

/** Returns the SQL of `DATABASE_NOW` and `SHARE_LOCK` on this database; undefined for a value, which becomes a parameter. */
export function fragmentOf(dataSource: Dialect, value: unknown): string | undefined {
  if (value === DATABASE_NOW) return currentTime(dataSource)
  return value === SHARE_LOCK ? shareLock(dataSource) : undefined
}

/** Each expression is in UTC, so a change to or from summer time does not move it. */
function currentTime(dataSource: Dialect): string {
  if (isSqlite(dataSource)) return "cast(round((julianday('now') - 2440587.5) * 86400000) as integer)"
  if (isNumbered(dataSource)) return 'cast(floor(extract(epoch from clock_timestamp()) * 1000) as bigint)'
  return "(timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(3)) div 1000)"
}

/** SQLite has one writer at a time, so its statements see no change that is not committed. */
function shareLock(dataSource: Dialect): string {
  if (isSqlite(dataSource)) return ''
  return isNumbered(dataSource) ? 'for share' : 'lock in share mode'
}

/** True for a database that numbers its parameters, `$1`. */
export function isNumbered({ options }: Dialect): boolean {
  return /postgres|cockroach/.test(options.type)
}

/** True for the drivers of SQLite. */
export function isSqlite(dataSource: Dialect): boolean {
  return /sqlite|sqljs|expo|capacitor|cordova|nativescript/.test(dataSource.options.type)
}
