import type { NewUser, StoredResetToken, StoredSession, StoredUser } from '@mortar/auth'
import { createRecordReader, DATE_FIELDS, FRAMEWORK_FIELDS } from '@mortar/auth/provider'
import type { Document } from './connection.ts'
import { identityOf } from './user-keys.ts'

/** The application's fields of `auth_users`, each with the value for a new user. */
export type UserFields = Readonly<Record<string, unknown>>

/** Fields of `auth_users` that belong to the framework. */
export const RESERVED_FIELDS: readonly string[] = ['_id', ...FRAMEWORK_FIELDS]

const read = createRecordReader((field) => new Error(`A document of the auth brick has no ${field}.`))

/** @returns the document of a new user. */
export function newUserDocument(user: NewUser, fields: UserFields): Document {
  const { id, name, email, passwordHash, now } = user
  return {
    ...fields,
    // The driver would store undefined as null.
    ...Object.fromEntries(Object.entries(user.fields ?? {}).filter(([, value]) => value !== undefined)),
    _id: id,
    name,
    email,
    password_hash: passwordHash,
    password_version: 0,
    kept_session_id: null,
    email_verified_at: null,
    disabled_at: null,
    created_at: new Date(now),
    updated_at: new Date(now),
  }
}

/** @returns the user of a document of `auth_users`, with the application's own fields. */
export function userOf(found: object, fields: UserFields): StoredUser {
  const document = found as Document
  const user = read.user({ ...document, id: identityOf(document['_id']) })
  return { ...user, raw: publicRecord(user.id, document, fields) }
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
  return read.session({ ...document, id: document['_id'] })
}

/** @returns the document of a reset token. */
export function resetTokenDocument(token: StoredResetToken): Document {
  const { tokenHash, userId, passwordVersion, createdAt, expiresAt } = token
  return {
    _id: tokenHash,
    user_id: userId,
    password_version: passwordVersion,
    created_at: createdAt,
    expires_at: expiresAt,
  }
}

/** @returns the reset token of a document of `auth_reset_tokens`. */
export function resetTokenOf(found: object): StoredResetToken {
  const document = found as Document
  return read.resetToken({ ...document, token_hash: document['_id'] })
}

/** A collection has no columns that mark public fields, so fields that the application does not list stay private. */
function publicRecord(id: string, document: Document, fields: UserFields): Record<string, unknown> {
  const record: Record<string, unknown> = {
    id,
    name: document['name'],
    email: document['email'],
  }
  for (const field of DATE_FIELDS) record[field] = document[field] ?? null
  // A user from before the field has the value for a new user.
  for (const [field, initial] of Object.entries(fields))
    record[field] = document[field] === undefined ? initial : document[field]
  return JSON.parse(JSON.stringify(record)) as Record<string, unknown>
}
