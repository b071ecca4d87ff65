import type { SessionOwner, StoredUser } from '../accounts/auth-store.ts'
import { DATE_FIELDS, FRAMEWORK_FIELDS } from '../accounts/private-fields.ts'
import { createRecordReader, type StoredRecord as Row } from '../accounts/stored-record.ts'
import { MissingColumn } from '../errors.ts'
import { dateOf, type ColumnMetadataLike, type DataSourceLike } from './sql.ts'

const read = createRecordReader((column) => new MissingColumn(column), true)

/** @returns the user of a row of `auth_users`. */
export function userOf(row: Row, dataSource: DataSourceLike): StoredUser {
  return { ...read.user(row), raw: publicRecord(row, dataSource) }
}

/** @returns user and session of a row of `auth_users` that is joined with the columns `session_…` of a session. */
export function sessionOwnerOf(row: Row, dataSource: DataSourceLike): SessionOwner {
  const session = {
    id: String(row['session_id']),
    passwordVersion: Number(row['session_version']),
    rotatedAt: Number(row['session_rotated_at']),
    expiresAt: Number(row['session_expires_at']),
  }
  return { user: userOf(row, dataSource), session }
}

/** Reads a row of `auth_refresh_tokens`. */
export const sessionOf = read.session

/** Reads a row of `auth_reset_tokens`. */
export const resetTokenOf = read.resetToken

/**
 * Returns the columns that may leave the server, as plain JSON. The entity that the application has registered for the
 * table names its own columns, without those that have `select: false`. Without an entity, only the framework's columns
 * are included.
 */
function publicRecord(row: Row, dataSource: DataSourceLike): Record<string, unknown> {
  const record: Record<string, unknown> = { id: row['id'], name: row['name'], email: row['email'] }
  for (const column of DATE_FIELDS) record[column] = dateOf(dataSource, row[column])
  for (const column of ownPublicColumns(dataSource)) {
    if (!(column.databaseName in row)) continue
    // TypeORM's own reading of the value: 0 and 1 become booleans, text becomes JSON or a date.
    record[column.propertyName] = dataSource.driver.prepareHydratedValue(
      row[column.databaseName],
      column as never,
    )
  }
  return JSON.parse(JSON.stringify(record)) as Record<string, unknown>
}

/**
 * Returns the values of the application's own columns for a statement, by escaped name.
 * @throws Error for a field without a column.
 */
export function ownValues(
  source: DataSourceLike,
  fields: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const columns = ownColumns(source)
  const values = Object.entries(fields).map(([name, value]) => {
    const column = columns.find(({ propertyName }) => propertyName === name)
    if (column === undefined) throw new Error(`The entity of auth_users has no column '${name}'.`)
    const stored = source.driver.preparePersistentValue(value, column as never)
    return [source.driver.escape(column.databaseName), stored]
  })
  return Object.fromEntries(values)
}

/** The application's own columns of `auth_users` without `select: false`: those that become part of `user.raw`. */
export function ownPublicColumns(dataSource: DataSourceLike): readonly ColumnMetadataLike[] {
  return ownColumns(dataSource).filter(({ isSelect }) => isSelect)
}

function ownColumns(dataSource: DataSourceLike): readonly ColumnMetadataLike[] {
  const table = `${dataSource.options.entityPrefix ?? ''}auth_users`
  const metadata = dataSource.entityMetadatas.find(({ tableName }) => tableName === table)
  return (metadata?.columns ?? []).filter(({ databaseName }) => !FRAMEWORK_FIELDS.includes(databaseName))
}
