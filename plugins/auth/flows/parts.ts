import { ServiceUnavailable, type Clock, type EventBus, type Logger, type Outages } from 'mortar'
import { isHttpError } from 'mortar/kit'
import type { AuthStore } from '../accounts/auth-store.ts'
import type { FeatureTable } from '../accounts/records.ts'
import type { AccessTokens } from '../tokens/access-tokens.ts'
import type { DeviceMarks } from '../limits/device-marks.ts'
import type { EndedSessions } from '../sessions/ended-sessions.ts'
import { isDatabaseAway, PasswordRefused, SecondFactorRequired } from '../errors.ts'
import type { AuthEvents } from '../events/events.ts'
import type { ResolvedLifetimes } from '../options/options.ts'
import type { Passwords } from '../passwords/passwords.ts'
import type { LimitRule, LimitSubject, RateLimits } from '../limits/rate-limits.ts'
import type { RefreshTokens } from '../tokens/refresh-tokens.ts'
import type { ClosableOutbox } from './outbox.ts'
import type { Caller, FeaturePoints } from './proof.ts'
import type { ResetMail } from './reset-mail.ts'
import type { SingleUseTokens } from '../tokens/single-use-tokens.ts'
import type { RotationClock } from '../tokens/rotation-clock.ts'
import type { Vault } from '../tokens/vault.ts'
import type { PasswordUser } from '../passwords/weak-passwords/own-words.ts'
import type { PasswordJudge } from '../passwords/weak-passwords/password-judge.ts'

export type { Caller }

/** Dependencies of the flows. None depends on HTTP, and only the store depends on a database. */
export interface AuthParts {
  readonly store: AuthStore
  readonly passwords: Passwords
  readonly accessTokens: AccessTokens
  readonly refreshTokens: RefreshTokens
  readonly resetTokens: SingleUseTokens
  readonly vault: Vault
  readonly endedSessions: EndedSessions
  readonly limits: RateLimits
  readonly events: EventBus<AuthEvents>
  readonly clock: Clock
  /** Dates the rotations of refresh tokens. */
  readonly rotations: RotationClock
  readonly logger: Logger
  readonly outages: Outages
  readonly lifetimes: ResolvedLifetimes
  /** Maximum sessions of a user; undefined for no limit. */
  readonly maxSessions?: number | undefined
  readonly devices: DeviceMarks
  readonly judgePassword: PasswordJudge
  /** Maximum reset tokens of one user that are valid at the same time. */
  readonly mostResetTokens: number
  readonly resetMail: ResetMail
  /** Users whose sessions and reset tokens of earlier passwords could not be deleted yet. */
  readonly unfinished: Set<string>
  readonly features: readonly FeaturePoints[]
  /** The tables of the features. */
  readonly tables: readonly FeatureTable[]
  /** Mails of features. */
  readonly mails: ClosableOutbox
}

/** The caller of what code of the application does without a request: limits count by user alone. */
export const CODE: Caller = { id: '', ip: '', set: () => undefined }

/** Fields of the request in every event. */
export function eventOrigin({ id, ip }: Caller): { readonly ip: string; readonly requestId: string } {
  return { ip, requestId: id }
}

/** Subject of the limits of an attempt, besides the client's address. */
export type Counted = Omit<LimitSubject, 'ip'>

/**
 * Counts an attempt before any work, and reports the state of the limits in the response headers.
 * @throws LimitReached (429) beyond a limit.
 */
export async function countAttempt(
  parts: AuthParts,
  caller: Caller,
  rule: LimitRule,
  counted: Counted,
): Promise<void> {
  const { headers } = await parts.limits.attempt(rule, subjectOf(caller, counted))
  for (const [name, value] of Object.entries(headers)) caller.set(name, value)
}

/** The rule of an attempt, and what it counts. */
interface CountedAttempt {
  readonly rule: LimitRule
  readonly counted: Counted
}

/**
 * Counts an attempt like `countedWork`, and runs its work, which hashes a password. A full hash queue refuses the attempt
 * before anything is counted or read.
 */
export async function countedHashing<T>(
  parts: AuthParts,
  caller: Caller,
  attempt: CountedAttempt,
  work: () => Promise<T>,
): Promise<T> {
  parts.passwords.refuseWhenFull()
  return countedWork(parts, caller, attempt, work)
}

/**
 * Counts an attempt and runs its work. If the hash queue is full, the database is away, or the new password is too weak,
 * the attempt is not counted, since it is not a guess.
 * @throws LimitReached, ServiceUnavailable, and errors of `work`.
 */
export async function countedWork<T>(
  parts: AuthParts,
  caller: Caller,
  { rule, counted }: CountedAttempt,
  work: () => Promise<T>,
): Promise<T> {
  await countAttempt(parts, caller, rule, counted)
  try {
    return await work()
  } catch (error) {
    if (!isHttpError(error) && !isDatabaseAway(error)) throw error
    const subject = subjectOf(caller, counted)
    if (error instanceof ServiceUnavailable || isDatabaseAway(error))
      await parts.limits.giveBack(rule, subject)
    // The attempt still counts for the network: a rule of the application may be expensive.
    if (error instanceof SecondFactorRequired) await parts.limits.success(rule, subject)
    if (error instanceof PasswordRefused) await parts.limits.giveBack(rule, subject, ['ip', 'site'])
    throw error
  }
}

/** @throws PasswordRefused (422) naming the field `path` when a new password is too easy to guess. */
export async function refuseWeak(
  parts: AuthParts,
  path: 'password' | 'next',
  password: string,
  { id, name, email }: PasswordUser,
): Promise<void> {
  // Only these fields of the user, since a rule of the application may pass them on.
  const reason = await parts.judgePassword(password, { ...(id !== undefined && { id }), name, email })
  if (reason !== undefined) throw new PasswordRefused(path, reason)
}

/** Returns the subject of the limits for an attempt. */
export function subjectOf({ ip }: Caller, { device, ...counted }: Counted): LimitSubject {
  return { ip, ...counted, ...(device !== undefined && { device }) }
}
