import type { NewUser, StoredResetToken, StoredSession, StoredUser } from '../../../src/index.ts'
import type { Document } from './connection.ts'

/** Fields of `auth_users` that never leave the server. */
export const PRIVATE_FIELDS: readonly string[] = ['password_hash', 'password_version', 'kept_session_id']

const DATE_FIELDS = ['email_verified_at', 'created_at', 'updated_at'] as const

/** @returns the document of a user that is to be added. */
export function newUserDocument({ id, name, email, passwordHash, now }: NewUser): Document {
  return {
    _id: id,
    name,
    email,
    password_hash: passwordHash,
    password_version: 0,
    kept_session_id: null,
    email_verified_at: null,
    created_at: new Date(now),
    updated_at: new Date(now),
  }
}

/** @returns the user of a document of `auth_users`, with those of the application's own fields that are public. */
export function userOf(found: object, publicFields: readonly string[]): StoredUser {
  const document = found as Document
  return {
    id: String(document['_id']),
    name: String(document['name']),
    email: String(document['email']),
    passwordHash: textOrNull(document['password_hash']),
    passwordVersion: Number(document['password_version']),
    keptSession: textOrNull(document['kept_session_id']),
    raw: publicRecord(document, publicFields),
  }
}

/** @returns the document of a session. */
export function sessionDocument(session: StoredSession): Document {
  return {
    _id: session.id,
    user_id: session.userId,
    password_version: session.passwordVersion,
    family_hash: session.familyHash,
    token_hash: session.tokenHash,
    previous_hash: session.previousHash,
    created_at: session.createdAt,
    rotated_at: session.rotatedAt,
    expires_at: session.expiresAt,
  }
}

/** @returns the session of a document of `auth_refresh_tokens`. */
export function sessionOf(found: object): StoredSession {
  const document = found as Document
  return {
    id: String(document['_id']),
    userId: String(document['user_id']),
    passwordVersion: Number(document['password_version']),
    familyHash: String(document['family_hash']),
    tokenHash: String(document['token_hash']),
    previousHash: textOrNull(document['previous_hash']),
    createdAt: Number(document['created_at']),
    rotatedAt: Number(document['rotated_at']),
    expiresAt: Number(document['expires_at']),
  }
}

/** @returns the document of a reset token. */
export function resetTokenDocument(token: StoredResetToken): Document {
  const { tokenHash, userId, createdAt, expiresAt } = token
  return { _id: tokenHash, user_id: userId, created_at: createdAt, expires_at: expiresAt }
}

/** @returns the reset token of a document of `auth_reset_tokens`. */
export function resetTokenOf(found: object): StoredResetToken {
  const document = found as Document
  return {
    tokenHash: String(document['_id']),
    userId: String(document['user_id']),
    createdAt: Number(document['created_at']),
    expiresAt: Number(document['expires_at']),
  }
}

/** A collection has no columns that say what is public, so what the application has not named stays inside. */
function publicRecord(document: Document, publicFields: readonly string[]): Record<string, unknown> {
  const record: Record<string, unknown> = {
    id: String(document['_id']),
    name: document['name'],
    email: document['email'],
  }
  for (const field of [...DATE_FIELDS, ...publicFields]) record[field] = document[field] ?? null
  return JSON.parse(JSON.stringify(record)) as Record<string, unknown>
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
