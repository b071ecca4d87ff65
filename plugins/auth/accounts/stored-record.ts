import type { StoredResetToken, StoredSession, StoredUser } from './auth-store.ts'

/** A row or document from the database, with the field names that both kinds of database share. */
export type StoredRecord = Readonly<Record<string, unknown>>

/** Converts stored records for the flows. Each function throws an Error for a missing field. */
export interface RecordReader {
  /** Reads a user without the public record, which differs between kinds of database. */
  user(record: StoredRecord): Omit<StoredUser, 'raw'>
  session(record: StoredRecord): StoredSession
  resetToken(record: StoredRecord): StoredResetToken
}

/**
 * Creates a reader. It detects missing fields: read as a value, a missing field would end active sessions.
 * @param explainMissing makes the error for a missing field.
 * @param isComplete true if a record has every field, possibly null: a row has, a document need not.
 */
export function createRecordReader(
  explainMissing: (field: string) => Error,
  isComplete = false,
): RecordReader {
  const fieldOf = (record: StoredRecord, field: string): unknown => {
    if (isComplete && !Object.hasOwn(record, field)) throw explainMissing(field)
    return record[field] ?? null
  }
  const valueOf = (record: StoredRecord, field: string): unknown => {
    const value = record[field]
    if (value !== undefined && value !== null) return value
    throw explainMissing(field)
  }
  const textOf = (record: StoredRecord, field: string): string => String(valueOf(record, field))
  // PostgreSQL returns a bigint as a string.
  const numberOf = (record: StoredRecord, field: string): number => Number(valueOf(record, field))

  return {
    user: (record) => ({
      id: textOf(record, 'id'),
      name: textOf(record, 'name'),
      email: textOf(record, 'email'),
      passwordHash: textOrNull(record['password_hash']),
      passwordVersion: numberOf(record, 'password_version'),
      keptSession: textOrNull(record['kept_session_id']),
      isDisabled: fieldOf(record, 'disabled_at') !== null,
    }),
    session: (record) => ({
      id: textOf(record, 'id'),
      userId: textOf(record, 'user_id'),
      passwordVersion: numberOf(record, 'password_version'),
      familyHash: textOf(record, 'family_hash'),
      tokenHash: textOf(record, 'token_hash'),
      previousHash: textOrNull(record['previous_hash']),
      createdAt: numberOf(record, 'created_at'),
      rotatedAt: numberOf(record, 'rotated_at'),
      expiresAt: numberOf(record, 'expires_at'),
    }),
    resetToken: (record) => ({
      tokenHash: textOf(record, 'token_hash'),
      userId: textOf(record, 'user_id'),
      passwordVersion: numberOrNull(fieldOf(record, 'password_version')),
      createdAt: numberOf(record, 'created_at'),
      expiresAt: numberOf(record, 'expires_at'),
    }),
  }
}

function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value)
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
