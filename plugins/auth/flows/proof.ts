import type { StoredUser } from '../accounts/auth-store.ts'

/** The caller of a flow; the `ctx` of a request has this shape. */
export interface Caller {
  readonly id: string
  readonly ip: string
  /** Aborted once the client has left. */
  readonly signal?: AbortSignal
  set(name: string, value: string): void
  /** A header of the request. */
  get?(name: string): string | undefined
}

/** The caller's session, from its access token. */
export interface OwnSession {
  readonly userId: string
  readonly sessionId: string
}

/** Name, address and password of a new account. */
export interface NewAccount {
  readonly name: string
  /** In canonical form. */
  readonly email: string
  readonly password: string
  /** Values of the application's own columns or fields. */
  readonly fields?: Readonly<Record<string, unknown>>
}

/** Somebody who has proved to own an account, on the way to a session. */
export interface Proof {
  readonly user: StoredUser
  /**
   * Origin of the proof. `renewal` replaces a session of the same user; `issued` is code of the application. At
   * these two no feature asks for more.
   */
  readonly way: 'login' | 'signup' | 'renewal' | 'issued'
  /** Methods of the proof, named as in RFC 8176; a password by default. */
  readonly methods?: readonly string[]
  /** True for a browser with a device cookie of this account and its password version. */
  readonly isKnownDevice?: boolean
}

/** A proof of a second factor, in the body of a request that also has a password. */
export interface FactorCodes {
  readonly code?: string | undefined
  readonly recoveryCode?: string | undefined
  /** Response of a passkey, in place of a code. */
  readonly passkey?: object | undefined
}

/** Changes of the second factor of an account. */
export type FactorChange =
  | 'factor-added'
  | 'factor-removed'
  | 'recovery-code-used'
  | 'recovery-codes-renewed'
  | 'account-linked'
  | 'account-unlinked'
  | 'passkey-added'
  | 'passkey-removed'

/** Operations on second factors for operators. `forget` of their feature removes them. */
export interface FactorOperations {
  /** Returns those of these users who have a factor. There is at least one, and at most 1000. */
  usersWith(userIds: readonly string[]): Promise<ReadonlySet<string>>
  /** Seals every secret with the first secret of the application, if it seals any. */
  reseal?(): Promise<ResealedSecrets>
}

/** Operations on linked accounts for operators. */
export interface LinkOperations {
  list(userId: string): Promise<readonly object[]>
  /** Removes a linked account, also the last way in. @returns false if the user does not have it. */
  remove(userId: string, id: string): Promise<boolean>
}

/** Result of sealing secrets again. */
export interface ResealedSecrets {
  readonly resealed: number
  /** Secrets that no secret of the application opens. */
  readonly unreadable: number
}

/** An entry of the log of events. */
export interface AuditEntry {
  readonly id: string
  /** ISO string. */
  readonly at: string
  readonly event: string
  readonly userId: string | null
  readonly sessionId: string | null
  readonly ip: string | null
  readonly requestId: string | null
  /** Further fields of the event, such as its `reason`. */
  readonly data: Readonly<Record<string, unknown>>
}

/** Part of the log. */
export interface AuditQuery {
  readonly userId?: string
  /** Id of the last entry of the part before. */
  readonly before?: string
  /** 50 by default, at most 1000. */
  readonly limit?: number
}

/** The log of events, as a table. */
export interface AuditLog {
  /** Entries, the newest first. */
  list(query?: AuditQuery): Promise<readonly AuditEntry[]>
}

/** Tokens of a new or refreshed session. */
export interface Grant {
  readonly sessionId: string
  readonly user: StoredUser
  readonly accessToken: string
  /** Seconds until the access token expires. */
  readonly expiresIn: number
  readonly refreshToken: string
  /** Seconds until the session ends. */
  readonly refreshAge: number
}

/**
 * The points at which a feature takes part. None can let anybody in: a feature can ask for more, or take note. So the
 * order of features never decides about access.
 */
export interface FeaturePoints {
  /** After a login or a signup has proved an account, before the session begins. An HttpError refuses. */
  demand?(proof: Proof, caller: Caller): unknown
  /** After a session has begun. An error is logged, and the session goes on. */
  admitted?(grant: Grant, proof: Proof, caller: Caller): Promise<unknown>
  /**
   * Verifies the factor of a user whose password was verified again. An HttpError refuses.
   * @returns the methods of the whole proof; undefined for a user without a factor.
   */
  proveAgain?(user: StoredUser, codes: FactorCodes, caller: Caller): Promise<readonly string[] | undefined>
  /**
   * Verifies a response of a passkey of a user. An HttpError refuses.
   * @returns the methods of the proof.
   */
  provePasskey?(user: StoredUser, passkey: object, caller: Caller): Promise<readonly string[]>
  /** Makes a link for a notice to a user, with which an owner who did not do it ends it. An error leaves the link out. */
  denialLink?(user: StoredUser): Promise<string>
  /** The methods of a stored session; undefined for a password alone. */
  methodsOf?(sessionId: string): Promise<readonly string[] | undefined>
  /** After a failure of the server in a request. An error is logged. */
  failed?(caller: Caller): Promise<unknown>
  /** After a change of the second factor. An error is logged. */
  factorChanged?(user: StoredUser, change: FactorChange, caller: Caller): unknown
  readonly factors?: FactorOperations
  /** Before an account gets another address. An error refuses. */
  addressChanging?(user: StoredUser): Promise<unknown>
  /** The id of the user for whom an address is kept; undefined if it is free. */
  keeperOf?(email: string): Promise<string | undefined>
  /** The number of ways into an account besides its password. */
  waysIn?(userId: string): Promise<number>
  readonly linked?: LinkOperations
  /**
   * Removes what signs a user in, or asks for more, and was added after `since`, in milliseconds since the epoch; without
   * it everything, at the first proof of the address. @returns the number of removed rows.
   */
  forget?(user: StoredUser, since?: number): Promise<number>
  /** After the statement that has stored a new password. `user` is the account before it. An error is logged. */
  passwordChanged?(user: StoredUser, caller: Caller): unknown
  /** Enables the account that was read, if its user is deleting it. @returns whether it did. */
  reopen?(user: StoredUser): Promise<boolean>
  /** Before an account is deleted, possibly several times. An error refuses. */
  deleting?(user: StoredUser): unknown
  /** Resolves when the work that continues after responses is done. */
  settled?(): Promise<unknown>
  readonly audit?: AuditLog
  /** Now and then, after the rows that are over at `now` were deleted, in milliseconds since the epoch. */
  tidy?(now: number): Promise<unknown>
}
