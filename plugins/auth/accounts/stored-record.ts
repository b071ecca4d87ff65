import type { StoredResetToken, StoredSession, StoredUser } from '../../../src/index.ts'

/** A row or a document as the database gives it, by the names that both kinds of database share. */
export type StoredRecord = Readonly<Record<string, unknown>>

/** Reads what is stored into what the flows work with. Each throws an Error for a field that is not there. */
export interface RecordReader {
  /** A user without the public record, which each kind of database finds in its own way. */
  user(record: StoredRecord): Omit<StoredUser, 'raw'>
  session(record: StoredRecord): StoredSession
  resetToken(record: StoredRecord): StoredResetToken
}

/**
 * Makes a reader. A field that is missing is noticed here: taken for a value, it would end sessions that live.
 * @param explainMissing makes the error for such a field.
 * @param isComplete whether a record has each field, if only with null: a row has, a document need not.
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
  // PostgreSQL gives a bigint as text.
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
