import type { DeletedRecords, StoredSession, StoredUser, UserQuery } from '../accounts/auth-store.ts'
import { canonicalEmail } from '../accounts/canonical-email.ts'
import { MOST_RECORDS } from '../accounts/records.ts'
import { deleteUser, forgetAdded } from './delete-user.ts'
import { issue } from './forgot-password.ts'
import { tidyFeatures } from './housekeeping.ts'
import type { AuthParts } from './parts.ts'
import type { AuditLog, FactorOperations, LinkOperations, ResealedSecrets } from './proof.ts'
import { disableUser, enableUser, endSession, isAlive } from './sessions.ts'

/** An account as an operator sees it: no hash and no column of the application. Dates are ISO strings. */
export interface Account {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly isDisabled: boolean
  readonly createdAt: unknown
  readonly emailVerifiedAt: unknown
  /** With a feature for second factors: whether the account has one. */
  readonly hasFactor?: boolean
}

/** A session as an operator sees it. Dates are ISO strings. */
export interface AccountSession {
  readonly id: string
  /** False for a session that has ended and is not deleted yet. */
  readonly isActive: boolean
  readonly createdAt: string
  readonly refreshedAt: string
  readonly expiresAt: string
}

/** Operations of an operator on accounts. A provider without these keeps its accounts elsewhere. */
export interface AccountOperations {
  /** Accounts in the order of their addresses. */
  list(query: UserQuery): Promise<readonly Account[]>
  /** Finds an account by its id or its address. */
  find(key: string): Promise<Account | null>
  /** Both return false for an unknown user. Disabling ends every session. */
  disable(userId: string): Promise<boolean>
  enable(userId: string): Promise<boolean>
  sessions(userId: string): Promise<readonly AccountSession[]>
  /** Ends one session of a user. @returns false if the user does not have it. */
  endSession(userId: string, sessionId: string): Promise<boolean>
  /** Makes a link that sets a new password, and sends nothing. @returns null for an unknown or disabled user. */
  resetLink(userId: string): Promise<{ readonly link: string; readonly expiresAt: string } | null>
  /** Removes every second factor of a user who has lost it. Exists with `totp()` and `passkeys()`. @returns false for an account without one. */
  removeFactor?(userId: string): Promise<boolean>
  /** Linked accounts. Exists with `social()`. */
  readonly linked?: LinkOperations
  /** Seals every secret of a second factor with the first secret of the application. Exists with `totp()`. */
  reseal?(): Promise<ResealedSecrets>
  /** Deletes an account with all of its rows. @returns false for an unknown user, whose leftovers are deleted too. */
  remove(userId: string): Promise<boolean>
  /** The log of events. Exists with `audit()`. */
  readonly audit?: AuditLog
  /** Deletes what has expired, and accounts whose grace is over. */
  prune(): Promise<DeletedRecords>
}

/** Creates the operations of a provider that stores its accounts. */
export function createAccountOperations(parts: AuthParts): AccountOperations {
  const { store, clock, features } = parts
  const audit = features.map((feature) => feature.audit).find((each) => each !== undefined)
  const linked = features.map((feature) => feature.linked).find((each) => each !== undefined)
  const factors = features.flatMap((feature) => feature.factors ?? [])
  const reseal = factors.find((each) => each.reseal !== undefined)?.reseal
  return {
    ...(audit && { audit }),
    ...(linked && { linked }),
    ...(factors.length > 0 && { removeFactor: (userId: string) => removeFactors(parts, userId) }),
    ...(reseal && { reseal }),
    async list(query) {
      return withFactors((await store.findUsers(query)).map(accountOf), factors)
    },
    async find(key) {
      const email = key.includes('@') ? canonicalEmail(key) : undefined
      const user = await (email === undefined ? store.findUserById(key) : store.findUserByEmail(email ?? key))
      return user && accountOf(user)
    },
    disable: (userId) => disableUser(parts, userId),
    enable: (userId) => enableUser(parts, userId),
    async sessions(userId) {
      const [user, sessions] = await Promise.all([store.findUserById(userId), store.findSessions(userId)])
      return sessions.map((session) => sessionOf(session, isAlive(parts, session, user)))
    },
    async endSession(userId, sessionId) {
      const isOwn = (await store.findSessions(userId)).some(({ id }) => id === sessionId)
      if (isOwn) await endSession(parts, sessionId)
      return isOwn
    },
    async resetLink(userId) {
      const user = await store.findUserById(userId)
      if (user === null || user.isDisabled) return null
      const { token, stored } = issue(parts, user, parts.lifetimes.resetToken)
      // Before the token is stored, because there may be no address for a link.
      const link = parts.resetMail.linkOf(token)
      await store.insertResetToken(stored, parts.mostResetTokens)
      return { link, expiresAt: new Date(stored.expiresAt).toISOString() }
    },
    remove: (userId) => deleteUser(parts, userId),
    async prune() {
      const now = clock.now()
      await tidyFeatures(parts, now)
      // A clock that is ahead must not delete records that other processes still need.
      return store.deleteExpired(now, now + Math.min(0, parts.endedSessions.storeAhead))
    },
  }
}

async function withFactors(accounts: readonly Account[], factors: readonly FactorOperations[]) {
  if (factors.length === 0) return accounts
  const ids = accounts.map(({ id }) => id)
  const having: ReadonlySet<string>[] = []
  for (let at = 0; at < ids.length; at += MOST_RECORDS)
    for (const each of factors) having.push(await each.usersWith(ids.slice(at, at + MOST_RECORDS)))
  return accounts.map((account) => ({ ...account, hasFactor: having.some((users) => users.has(account.id)) }))
}

async function removeFactors({ store, features }: AuthParts, userId: string): Promise<boolean> {
  const user = await store.findUserById(userId)
  return user !== null && forgetAdded({ features: features.filter(({ factors }) => factors) }, user, 0)
}

function accountOf({ id, email, name, isDisabled, raw }: StoredUser): Account {
  return {
    id,
    email,
    name,
    isDisabled,
    createdAt: raw['created_at'],
    emailVerifiedAt: raw['email_verified_at'],
  }
}

function sessionOf(
  { id, createdAt, rotatedAt, expiresAt }: StoredSession,
  isActive: boolean,
): AccountSession {
  const [created, refreshed, expires] = [createdAt, rotatedAt, expiresAt].map((time) =>
    new Date(time).toISOString(),
  )
  return { id, isActive, createdAt: created!, refreshedAt: refreshed!, expiresAt: expires! }
}
