/** The part of a DataSource that decides the dialect. */
interface Dialect {
  readonly options: { readonly type: string }
}

/** Returns the SQL of a word of a statement on this database: `{now}`, `{share}`, `{bytes}`. */
export function fragmentOf(dataSource: Dialect, word: string): string {
  if (word === '{bytes}') return isSqlite(dataSource) || isNumbered(dataSource) ? 'text' : 'binary'
  return word === '{now}' ? currentTime(dataSource) : shareLock(dataSource)
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
