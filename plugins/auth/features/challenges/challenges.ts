import type { StoredUser } from '../../accounts/auth-store.ts'
import type { RecordRow } from '../../accounts/records.ts'

/** Kinds of single-use secrets. A secret of one purpose is never found under another. */
export type ChallengePurpose =
  | 'verify-email'
  | 'change-email'
  | 'second-factor'
  | 'passkey-registration'
  | 'passkey-login'
  | 'passkey-confirm'
  | 'ticket'
  | 'not-me'

/** A secret to be issued. */
export interface NewChallenge {
  readonly purpose: ChallengePurpose
  readonly user: Pick<StoredUser, 'id' | 'passwordVersion'>
  /** Seconds until it expires. */
  readonly lifetime: number
  /** Public facts that belong to the secret, at most 1,000 characters. */
  readonly data?: string
  /**
   * True for a secret that stays valid when the password version changes, and while the account is disabled: its user
   * decides what it does then.
   */
  readonly outlivesVersion?: true
  /** Number of attempts that `attempt` allows; unlimited by default. */
  readonly tries?: number
}

/**
 * A valid secret: neither used nor expired, of an enabled account whose credentials have not changed since, unless it
 * outlives that.
 */
export interface Challenge {
  /** The account as stored now. */
  readonly user: StoredUser
  readonly data: string | null
  /** The stored row, for `redeem` and `restore`. */
  readonly row: RecordRow
}

/**
 * Single-use secrets of features: the links of mails, and steps of a login. 256 random bits, stored as a hash in
 * `auth_challenges`. Each ends with a new password, `signOut` and `disable`, because it belongs to one password version.
 * A feature that uses it lists `CHALLENGES` in `tables`.
 */
export interface Challenges {
  /** Stores a secret. @returns the token for its owner. */
  issue(challenge: NewChallenge): Promise<string>
  /** Returns the challenge of a token, which stays valid; null for a token that is not valid. */
  find(purpose: ChallengePurpose, token: string): Promise<Challenge | null>
  /** Like `find`, and counts one of its `tries`. Of many concurrent calls at most `tries` get the challenge. */
  attempt(purpose: ChallengePurpose, token: string): Promise<Challenge | null>
  /** Uses a challenge up by one statement. @returns whether it did: of many concurrent calls one gets true. */
  redeem(challenge: Challenge): Promise<boolean>
  /** Makes a challenge for a caller who is not known yet, valid for `lifetime` seconds. Nothing is stored until its use. */
  offer(purpose: ChallengePurpose, lifetime: number): string
  /**
   * Uses an offered challenge up by one statement, which stores the use with its user.
   * @returns false for a token that is not valid; of many concurrent calls one gets true.
   */
  spend(purpose: ChallengePurpose, token: string, user: Pick<StoredUser, 'id'>): Promise<boolean>
  /** Makes a redeemed challenge valid again, when the server could not do what it is for. */
  restore(challenge: Challenge): Promise<void>
  /** Ends every secret of a user for a purpose. */
  revoke(purpose: ChallengePurpose, userId: string): Promise<void>
}
