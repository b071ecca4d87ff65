import type { EntitySchema, EntitySchemaColumnOptions } from 'typeorm'
import { BINARY } from 'mortar/kit'
import { PRIVATE_FIELDS } from '../accounts/private-fields.ts'
import { HASH, ID, MILLISECONDS, OWNER } from './columns.ts'
import { entitySchema } from './entity-schema.ts'

/** A row of `auth_users` without an application's own columns. Property names are the column names. */
export interface AuthUserRow {
  id: string
  name: string
  /** In canonical form: NFC, trimmed, lower case. */
  email: string
  /** PHC string of argon2id; null for an account that cannot log in with a password. Not selected by default. */
  password_hash: string | null
  /** Incremented in the statement that stores a new password. Sessions of a lower version are over … */
  password_version: number
  /** … except this one, which changed the password. */
  kept_session_id: string | null
  email_verified_at: Date | null
  /** Time at which the account was disabled, or null. Not selected by default. */
  disabled_at: Date | null
  created_at: Date
  updated_at: Date
}

/** A row of `auth_refresh_tokens`: one session. Times are milliseconds since the epoch. */
export interface AuthRefreshTokenRow {
  id: string
  user_id: string
  /** `password_version` of the user when the session began. */
  password_version: number
  /** Hash of the part of the refresh token that stays the same for the session's whole life. */
  family_hash: string
  /** Hash of the current refresh token. */
  token_hash: string
  /** Hash of its immediate predecessor, which the grace time admits. */
  previous_hash: string | null
  created_at: number
  rotated_at: number
  expires_at: number
}

/** A row of `auth_reset_tokens`: one unused reset token. Times are milliseconds since the epoch. */
export interface AuthResetTokenRow {
  token_hash: string
  user_id: string
  /** `password_version` of the user at issue, with which the token ends; null for one from before this column. */
  password_version: number | null
  created_at: number
  expires_at: number
}

/** A row of `auth_ended_sessions`: a session that ended before its access tokens expired. Times are milliseconds. */
export interface AuthEndedSessionRow {
  id: string
  /** When it was published, by the database's clock. */
  ended_at: number
  /** When the last access token of the session has expired. */
  expires_at: number
}

/** Columns that an application adds to `auth_users`, as TypeORM column options by column name. */
export type ExtraColumns = Readonly<Record<string, EntitySchemaColumnOptions>>

const MOMENT = { type: Date, precision: 3 } as const

const USER_COLUMNS = withoutPrivate({
  id: { ...ID, primary: true },
  name: { type: String, length: 200 },
  // Otherwise MariaDB and MySQL would treat `josé@` and `jose@` as one address.
  email: { type: String, length: 254, unique: true, ...BINARY },
  password_hash: { type: String, length: 255, nullable: true },
  password_version: { type: Number, default: 0 },
  kept_session_id: { ...ID, nullable: true },
  email_verified_at: { ...MOMENT, nullable: true },
  disabled_at: { ...MOMENT, nullable: true },
  created_at: MOMENT,
  updated_at: MOMENT,
})

type UserColumns = Record<keyof AuthUserRow, EntitySchemaColumnOptions>

/** Leaves the private fields out of what a repository selects by default. */
function withoutPrivate(columns: UserColumns): UserColumns {
  const hidden = PRIVATE_FIELDS.map((name) => [name, { ...columns[name], select: false }])
  return { ...columns, ...Object.fromEntries(hidden) }
}

/**
 * The entity of `auth_users`, with an application's own columns if it has any: `export const AuthUsers = authUsers({
 * role: { type: String, default: 'user' } })`. Give each a default or make it nullable, because signup fills in none of
 * them. They appear in `user.raw` unless they have `select: false`.
 * @throws TypeError when a column of the framework would be replaced.
 */
export function authUsers<Extra extends object = object>(
  columns: ExtraColumns = {},
): EntitySchema<AuthUserRow & Extra> {
  const taken = Object.keys(columns).find((name) => Object.hasOwn(USER_COLUMNS, name))
  if (taken !== undefined)
    throw new TypeError(
      `authUsers() cannot replace the column '${taken}' of auth_users; choose another name.`,
    )
  return entitySchema<AuthUserRow & Extra>({
    name: 'auth_users',
    columns: { ...USER_COLUMNS, ...columns },
  })
}

/** The entity of `auth_users` without columns of the application. */
export const AuthUsers = authUsers()

/** `auth_refresh_tokens`: one row is one session. */
export const AuthRefreshTokens = entitySchema<AuthRefreshTokenRow>({
  name: 'auth_refresh_tokens',
  columns: {
    id: { ...ID, primary: true },
    user_id: OWNER,
    password_version: { type: Number },
    family_hash: { ...HASH, unique: true },
    token_hash: HASH,
    previous_hash: { ...HASH, nullable: true },
    created_at: MILLISECONDS,
    rotated_at: MILLISECONDS,
    expires_at: MILLISECONDS,
  },
  indices: [{ columns: ['user_id'] }, { columns: ['expires_at'] }],
})

/** `auth_reset_tokens`: one row is one reset token that was not used yet. */
export const AuthResetTokens = entitySchema<AuthResetTokenRow>({
  name: 'auth_reset_tokens',
  columns: {
    token_hash: { ...HASH, primary: true },
    user_id: OWNER,
    password_version: { type: Number, nullable: true },
    created_at: MILLISECONDS,
    expires_at: MILLISECONDS,
  },
  indices: [{ columns: ['user_id'] }, { columns: ['expires_at'] }],
})

/**
 * `auth_ended_sessions`: sessions that every process must refuse until their access tokens have expired. Without a
 * foreign key, because a row has to outlive its session and its user.
 */
export const AuthEndedSessions = entitySchema<AuthEndedSessionRow>({
  name: 'auth_ended_sessions',
  columns: {
    id: { ...ID, primary: true },
    ended_at: MILLISECONDS,
    expires_at: MILLISECONDS,
  },
  indices: [{ columns: ['ended_at'] }, { columns: ['expires_at'] }],
})
