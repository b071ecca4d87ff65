import type { StoredResetToken, StoredSession, StoredUser } from '../../../src/index.ts'
import { dateOf, type DataSourceLike } from './sql.ts'

type Row = Readonly<Record<string, unknown>>

const PRIVATE_COLUMNS = ['password_hash', 'password_version', 'kept_session_id']
const DATE_COLUMNS = ['email_verified_at', 'created_at', 'updated_at']

/** @returns the user of a row of `auth_users`. */
export function userOf(row: Row, dataSource: DataSourceLike): StoredUser {
  return {
    id: textOf(row, 'id'),
    name: textOf(row, 'name'),
    email: textOf(row, 'email'),
    passwordHash: textOrNull(row['password_hash']),
    passwordVersion: numberOf(row, 'password_version'),
    keptSession: textOrNull(row['kept_session_id']),
    raw: publicRecord(row, dataSource),
  }
}

/** @returns the session of a row of `auth_refresh_tokens`. */
export function sessionOf(row: Row): StoredSession {
  return {
    id: textOf(row, 'id'),
    userId: textOf(row, 'user_id'),
    passwordVersion: numberOf(row, 'password_version'),
    familyHash: textOf(row, 'family_hash'),
    tokenHash: textOf(row, 'token_hash'),
    previousHash: textOrNull(row['previous_hash']),
    createdAt: numberOf(row, 'created_at'),
    rotatedAt: numberOf(row, 'rotated_at'),
    expiresAt: numberOf(row, 'expires_at'),
  }
}

/** @returns the reset token of a row of `auth_reset_tokens`. */
export function resetTokenOf(row: Row): StoredResetToken {
  return {
    tokenHash: textOf(row, 'token_hash'),
    userId: textOf(row, 'user_id'),
    createdAt: numberOf(row, 'created_at'),
    expiresAt: numberOf(row, 'expires_at'),
  }
}

/**
 * The columns that may leave the server, as plain JSON. An application's own columns are known by the entity that it
 * has registered for the table, and those with `select: false` stay out; without an entity only the framework's do.
 */
function publicRecord(row: Row, dataSource: DataSourceLike): Record<string, unknown> {
  const table = `${dataSource.options.entityPrefix ?? ''}auth_users`
  const metadata = dataSource.entityMetadatas.find(({ tableName }) => tableName === table)
  const record: Record<string, unknown> = { id: row['id'], name: row['name'], email: row['email'] }
  for (const column of DATE_COLUMNS) record[column] = dateOf(dataSource, row[column])
  for (const column of metadata?.columns ?? []) {
    if (!column.isSelect || PRIVATE_COLUMNS.includes(column.databaseName)) continue
    if (column.databaseName in record || !(column.databaseName in row)) continue
    // TypeORM's own reading of the value: 0 and 1 become booleans, text becomes JSON or a date.
    record[column.propertyName] = dataSource.driver.prepareHydratedValue(
      row[column.databaseName],
      column as never,
    )
  }
  return JSON.parse(JSON.stringify(record)) as Record<string, unknown>
}

function textOf(row: Row, column: string): string {
  return String(valueOf(row, column))
}

/** PostgreSQL gives a bigint as text. */
function numberOf(row: Row, column: string): number {
  return Number(valueOf(row, column))
}

/** @throws Error for a column that is not there: taken for a value, it would end sessions that live. */
function valueOf(row: Row, column: string): unknown {
  const value = row[column]
  if (value !== undefined && value !== null) return value
  throw new Error(`A row of the auth tables has no ${column}. Generate and run a migration of them.`)
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
