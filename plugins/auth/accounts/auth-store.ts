/**
 * Database operations of the flows. Every change is one conditional statement, and its promise resolves to whether the
 * condition was met: no flow reads first and writes later in the hope that nothing happened in between, and none needs
 * a transaction. Each implementation passes the suite `authStoreSuite` of `@mortar/auth/testing`.
 */
export interface AuthStore {
  /** Adds a user. @returns null when the address is taken; the unique index lets one of many concurrent calls win. */
  insertUser(user: NewUser): Promise<StoredUser | null>
  /** Looks for an exact match; a database whose comparison ignores case or accents must not widen it. */
  findUserByEmail(email: string): Promise<StoredUser | null>
  findUserById(id: string): Promise<StoredUser | null>
  /** Users in the order of their addresses, whose address or name contains `search`, after the address `after`. */
  findUsers(query: UserQuery): Promise<readonly StoredUser[]>
  /** The user and the session of an access token, in one statement where the database can join; null without either. */
  findUserOfSession(sessionId: string, userId: string): Promise<SessionOwner | null>
  /**
   * Stores a new password, or the same one to end sessions. The same statement raises the user's password version, which ends every session but
   * `keptSession`: no crash and no race can leave an old session beside a new password.
   * With `version` it happens only if that still is the user's version. @returns whether it happened.
   */
  setPassword(change: PasswordChange): Promise<boolean>
  /**
   * Disables or enables an account. The statement that disables raises the password version too, so that every session
   * and every reset token ends with it. With `version` it happens only if that still is the user's version.
   * @returns false for an unknown user, or another version.
   */
  setDisabled(userId: string, isDisabled: boolean, now: number, version?: number): Promise<boolean>
  /**
   * Deletes a user who is disabled, if `version` still is the user's. @returns whether it did: of many concurrent calls one
   * gets true.
   */
  deleteUser(userId: string, version: number): Promise<boolean>
  /**
   * Marks an address as proven, and replaces the address `from` by it, if `from` and `version` still are the user's and
   * the account is enabled. With `endsSessions` the same statement raises the password version.
   * @returns `changed`; `over` if the user has another address or version by now; `taken` if another account has it.
   */
  setEmail(change: EmailChange): Promise<'changed' | 'over' | 'taken'>
  /** Replaces the hash `from` with another hash of the same password, if it still is there; sessions live on. */
  rehashPassword(userId: string, from: string, to: string): Promise<boolean>

  /**
   * Adds a session, if the user's password version still is the session's and the account is not disabled. A concurrent
   * change of the version waits for this session or prevents it: `findEndedSessions` after the change never misses it.
   * @returns whether it did.
   */
  insertSession(session: StoredSession): Promise<boolean>
  /** The session that a family of refresh tokens belongs to, ended by time or password or not. */
  findSession(familyHash: string): Promise<StoredSession | null>
  /** Moves a session on to its next refresh token, if its current one still is `from`. */
  rotateSession(rotation: Rotation): Promise<boolean>
  deleteSession(id: string): Promise<boolean>
  /** The stored sessions of a user, the newest first, also those that have ended. */
  findSessions(userId: string): Promise<readonly StoredSession[]>
  /** Ids of a user's sessions that a new password version has ended. */
  findEndedSessions(userId: string): Promise<readonly string[]>
  /**
   * Deletes the sessions of a user that a new password version has ended and whose end was published. The end of a
   * session that is not published yet stays visible to `findEndedSessions`.
   */
  deleteEndedSessions(userId: string): Promise<void>

  /**
   * Adds a reset token, and keeps at most `keep` of the user: those that expire last, and of these the newest. So the link
   * of an invitation outlives links that anybody can ask for.
   */
  insertResetToken(token: StoredResetToken, keep: number): Promise<void>
  /** The token, if it has not expired at `now`. */
  findResetToken(tokenHash: string, now: number): Promise<StoredResetToken | null>
  /** Removes a token unless it has expired at `now`. One of many concurrent calls gets true. */
  takeResetToken(tokenHash: string, now: number): Promise<boolean>
  /** Deletes the reset tokens of a user that a new password version has ended; every one of a user who is gone. */
  deleteResetTokens(userId: string): Promise<void>

  /**
   * The database's clock in milliseconds since the epoch: the clock that dates a rotation without `now`. All processes
   * judge the age of a rotation by it, so their own clocks may differ.
   */
  now(): Promise<number>

  /**
   * Publishes that a session has ended, for the other processes and for after a restart; a second time renews the
   * moment. `expiresAt` is when its last access token has expired by the store's clock, in milliseconds since the epoch.
   * The record needs no session and no user: both may be deleted immediately.
   */
  publishEnded(sessionId: string, expiresAt: number): Promise<void>
  /**
   * Publishes all sessions of a user that began under `version` or an earlier one, but not the session `kept`. @returns the ids of those that are
   * published, and never one that began too late for it.
   */
  publishEndedOf(
    userId: string,
    version: number,
    expiresAt: number,
    kept?: string,
  ): Promise<readonly string[]>
  /**
   * True for a session whose end was published, also long ago: as long as the session is stored, the record is too. A
   * process can end between the two statements of a logout.
   */
  hasEnded(sessionId: string): Promise<boolean>
  /**
   * Opens a reader of what all processes published, on a connection of its own where the database has one; call it when
   * the store is connected. `deadline` is the time limit of each read but the first, in milliseconds.
   * @returns undefined where no other process can share the store (SQLite in memory).
   */
  readEnded(deadline: number): EndedSessionReader | undefined

  /**
   * Deletes sessions and reset tokens that expired before `now`, and records of ended sessions that expired before
   * `storeNow` and whose session is no longer stored, or is deleted with its record. `storeNow` is `now` unless the clock of
   * this process is ahead of the store's.
   */
  deleteExpired(now: number, storeNow?: number): Promise<DeletedRecords>
}

/** Part of the users. */
export interface UserQuery {
  /** Any part of the address or the name; upper and lower case are equal. Empty for all users. */
  readonly search: string
  /** The last address of the part before; empty for the first part. */
  readonly after: string
  readonly limit: number
}

/** Numbers of deleted records. */
export interface DeletedRecords {
  readonly sessions: number
  readonly resetTokens: number
  readonly endedSessions: number
}

/** Sessions that some process ended, as read from the store. */
export interface EndedSessionNews {
  /** `until` is when the last access token of the session expires, in milliseconds since the epoch. */
  readonly sessions: readonly { readonly id: string; readonly until: number }[]
  /** The store's clock when it answered, in milliseconds since the epoch. */
  readonly now: number
}

/** Reads what all processes published with `publishEnded`. */
export interface EndedSessionReader {
  /**
   * The sessions published at or after `moment` by the store's clock, those that matter no more left out. Must settle
   * within the deadline: a reader that waits for a silent server gives up and connects anew at the next call.
   */
  since(moment: number): Promise<EndedSessionNews>
  /** True if the reader itself reports that the clock of this process differs from the store's. */
  readonly reportsClock?: boolean
  close(): void
}

/** A user to be added. Times are milliseconds since the epoch. */
export interface NewUser {
  readonly id: string
  readonly name: string
  /** In canonical form. */
  readonly email: string
  /** Null for an account without a password. */
  readonly passwordHash: string | null
  /** Values of the application's own columns or fields. */
  readonly fields?: Readonly<Record<string, unknown>>
  readonly now: number
}

/** A user as the flows see it. */
export interface StoredUser extends Pick<NewUser, 'id' | 'name' | 'email' | 'passwordHash'> {
  readonly passwordVersion: number
  /** The session that lives on although it began under an earlier password version. */
  readonly keptSession: string | null
  readonly isDisabled: boolean
  /** The public record as plain JSON: `id`, `name`, `email`, dates as ISO strings, the application's own columns. */
  readonly raw: Readonly<Record<string, unknown>>
}

/** A new password for a user, and the session that outlives it, if one does. */
export interface PasswordChange {
  readonly userId: string
  /** Null for an account without a password. */
  readonly passwordHash: string | null
  readonly keptSession: string | null
  readonly now: number
  readonly version?: number
  /** The moment at which the change has proven the e-mail address; without it `email_verified_at` stays. */
  readonly emailVerifiedAt?: number
}

/** A proven address for a user; `to` equals `from` if only the proof is new. Both in canonical form. */
export interface EmailChange {
  readonly userId: string
  readonly from: string
  readonly to: string
  readonly version: number
  readonly now: number
  readonly endsSessions: boolean
}

/** One session: the row behind one refresh cookie. Times are milliseconds since the epoch. */
export interface StoredSession {
  readonly id: string
  readonly userId: string
  readonly passwordVersion: number
  readonly familyHash: string
  readonly tokenHash: string
  readonly previousHash: string | null
  readonly createdAt: number
  readonly rotatedAt: number
  readonly expiresAt: number
}

/** A user, with what decides whether one of the user's sessions is alive. */
export interface SessionOwner {
  readonly user: StoredUser
  readonly session: Pick<StoredSession, 'id' | 'passwordVersion' | 'rotatedAt' | 'expiresAt'>
}

/** One step of a session: the current token's hash becomes the previous one. */
export interface Rotation {
  readonly id: string
  readonly from: string
  readonly to: string
  /** Date of the rotation; without it the database's clock dates the rotation in the same statement. */
  readonly now?: number
}

/** A reset token that was not used yet. Times are milliseconds since the epoch. */
export interface StoredResetToken {
  readonly tokenHash: string
  readonly userId: string
  /** The user's password version at issue: the token ends with it. Null for a token from before this was stored. */
  readonly passwordVersion: number | null
  readonly createdAt: number
  readonly expiresAt: number
}
