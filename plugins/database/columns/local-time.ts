import type { DataSource } from 'typeorm'
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js'
import { clientBeside } from '../compat/pg.ts'
import { postgresPoolOf } from '../compat/typeorm.ts'
import { escapePath } from '../escape-path.ts'

/** Tables whose first migration is younger never had dates in local time. */
const SINCE = Date.UTC(2026, 10, 23, 8)

/** Name of the migration that has rewritten them. */
const REWRITTEN = /InUtc\d{13}$/

/**
 * Names the tables of entities whose rows may have dates in local time, written before all instants were in UTC: the
 * zone of the process or of the server is not UTC, and the column does not store its zone. SQLite always had UTC.
 * @param applied names of the applied migrations
 */
export async function tablesInLocalTime(db: DataSource, applied: readonly string[]): Promise<string[]> {
  const isOld = applied.some((name) => Number(name.slice(-13)) < SINCE)
  if (!isOld || applied.some((name) => REWRITTEN.test(name)) || (await isInUtc(db))) return []
  const named: string[] = []
  for (const { columns, tablePath, tableName } of db.entityMetadatas) {
    if (!columns.some((column) => wasLocal(column, db))) continue
    const rows: unknown = await db.query(`SELECT 1 FROM ${escapePath(db, tablePath)} LIMIT 1`)
    if (Array.isArray(rows) && rows.length > 0) named.push(tableName)
  }
  return named
}

/**
 * On MariaDB and MySQL the driver had converted a `datetime` already, except where the server has filled it: TypeORM
 * gives dates of creation and of the last change a default too.
 */
function wasLocal(column: ColumnMetadata, { driver, options }: DataSource): boolean {
  const type = driver.normalizeType(column)
  if (options.type === 'postgres') return type === 'timestamp' || type === 'timestamp without time zone'
  return type === 'timestamp' || (type === 'datetime' && typeof column.default === 'function')
}

async function isInUtc(db: DataSource): Promise<boolean> {
  const { type } = db.options
  if (type === 'postgres') return isProcessInUtc() && (await isPostgresInUtc(db))
  if (type !== 'mysql' && type !== 'mariadb') return true
  const [winter, summer] = ['2026-01-01', '2026-07-01'].map(
    (day) => `CONVERT_TZ('${day}', @@global.time_zone, '+00:00') = '${day}'`,
  )
  const [{ isUtc }] = await db.query(`SELECT ${winter} AND ${summer} AS isUtc`)
  return Number(isUtc) === 1
}

function isProcessInUtc(): boolean {
  return [0, 6].every((month) => new Date(Date.UTC(2026, month)).getTimezoneOffset() === 0)
}

/** The zone of the server, which the connections of the pool replace. */
async function isPostgresInUtc(db: DataSource): Promise<boolean> {
  const client = clientBeside(postgresPoolOf(db))
  if (client === undefined) return true
  try {
    await client.connect()
    const { rows } = await client.query(
      `SELECT extract(timezone FROM timestamptz '2026-01-01') = 0 AND extract(timezone FROM timestamptz '2026-07-01') = 0 AS utc`,
    )
    return (rows[0] as { readonly utc: boolean }).utc
  } finally {
    await client.end()
  }
}
