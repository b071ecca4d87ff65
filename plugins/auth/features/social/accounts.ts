import { randomUUID } from 'node:crypto'
import type { StoredUser } from '../../accounts/auth-store.ts'
import { canonicalEmail } from '../../accounts/canonical-email.ts'
import { displayName } from '../../accounts/display-name.ts'
import { NEVER, type RecordRow, type Records } from '../../accounts/records.ts'
import { sessionOver } from '../../errors.ts'
import type { OwnSession } from '../../flows/change-password.ts'
import { hashToken } from '../../tokens/opaque-token.ts'
import type { FeatureKit } from '../feature.ts'
import type { Identity, SocialProvider } from './providers.ts'
import { accountRefused } from './refusals.ts'
import { ACCOUNTS } from './table.ts'

/** An account of another provider, as its user sees it. Dates are ISO strings. */
export interface LinkedAccount {
  readonly id: string
  readonly provider: string
  /** Address at the provider when it was linked; null if it has none. */
  readonly email: string | null
  readonly linkedAt: string
  readonly lastUsedAt: string | null
}

/** Rules of `social()` for accounts that are not linked yet. */
export interface LinkRules {
  readonly signUp: boolean
  readonly linkVerified: boolean
}

/** The linked accounts of one application. */
export class LinkedAccounts {
  readonly #kit: FeatureKit
  readonly #rules: LinkRules
  readonly #records: Records

  constructor(kit: FeatureKit, rules: LinkRules) {
    this.#kit = kit
    this.#rules = rules
    this.#records = kit.records(ACCOUNTS)
  }

  /**
   * Finds the user of an identity, or creates one.
   * @throws Conflict `account_exists`, `email_missing`, `no_account`, `sign_in_again`.
   */
  async userOf(provider: SocialProvider, identity: Identity): Promise<FoundUser> {
    const id = idOf(provider.issuer, identity.subject)
    const linked = await this.#linkedUser(id)
    if (linked === undefined) return this.#userByAddress(provider, identity)
    await this.#records.update({ id, user_id: linked.id }, { last_used_at: this.#kit.clock.now() })
    return { user: linked, isNew: false }
  }

  /** Links an identity to a user who is signed in. @throws Conflict `account_linked_elsewhere`, Unauthorized. */
  async link(
    provider: SocialProvider,
    identity: Identity,
    { userId, sessionId }: OwnSession,
  ): Promise<StoredUser> {
    const user = await this.#kit.sessions.findOwner(sessionId, userId)
    if (user === null) throw sessionOver()
    const id = idOf(provider.issuer, identity.subject)
    const linked = await this.#linkedUser(id)
    if (linked === undefined && (await this.#insert(user, provider, identity))) return user
    const owner = linked ?? (await this.#linkedUser(id))
    if (owner?.id !== userId) throw accountRefused('account_linked_elsewhere')
    return user
  }

  async list(userId: string): Promise<readonly LinkedAccount[]> {
    return (await this.#records.find({ user_id: userId })).map(shown)
  }

  /** @returns false if the user has no such account. @throws Conflict `last_way_in`. */
  async unlink(user: StoredUser, id: string): Promise<boolean> {
    const [row] = await this.#records.find({ id })
    if (row === undefined || (await this.#records.remove({ id, user_id: user.id })) === 0) return false
    // After the deletion, so that of two simultaneous ones the later sees what the earlier has left.
    if (!(await this.#hasNoWayIn(user))) return true
    await this.#records.insert(row)
    throw accountRefused('last_way_in')
  }

  /** Forgets every account of a user. */
  async forget(userId: string): Promise<void> {
    await this.#records.remove({ user_id: userId })
  }

  /** Returns the user of a linked account; undefined without one, or if the user was deleted. */
  async #linkedUser(id: string): Promise<StoredUser | undefined> {
    const [row] = await this.#records.find({ id })
    if (row === undefined) return undefined
    const user = await this.#kit.users.findUserById(String(row['user_id']))
    if (user === null) await this.#records.remove({ id, user_id: row['user_id'] ?? null })
    return user ?? undefined
  }

  /** Finds or creates the user of an identity that is not linked yet, and links it. */
  async #userByAddress(provider: SocialProvider, identity: Identity): Promise<FoundUser> {
    const email = addressOf(identity)
    const isProven = provider.trustEmail && identity.emailVerified === true
    const before = await this.#kit.users.findUserByEmail(email)
    const created = before === null ? await this.#create(identity, email) : null
    const user = created ?? before ?? (await this.#kit.users.findUserByEmail(email))
    const isAllowed = user !== null && (created !== null || (await this.#mayLink(user, isProven)))
    if (isAllowed && (await this.#insert(user, provider, identity)))
      return { user: isProven ? await this.#proven(user) : user, isNew: created !== null }
    // Another request of the same identity may have been faster.
    const faster = await this.#linkedUser(idOf(provider.issuer, identity.subject))
    if (faster === undefined) throw accountRefused(isAllowed ? 'sign_in_again' : 'account_exists')
    return { user: faster, isNew: false }
  }

  async #create({ name }: Identity, email: string): Promise<StoredUser | null> {
    if (!this.#rules.signUp) throw accountRefused('no_account')
    const shownName = typeof name === 'string' ? displayName(name) : null
    return this.#kit.users.insertUser({
      id: randomUUID(),
      name: shownName ?? email.slice(0, email.indexOf('@')),
      email,
      passwordHash: null,
      now: this.#kit.clock.now(),
    })
  }

  /**
   * Whoever registered an address first must not get its owner's sign-in, and the other way round. An account without
   * any way in, which an invitation or a crash has left behind, belongs to whoever has proven the address.
   */
  async #mayLink(user: StoredUser, isProven: boolean): Promise<boolean> {
    if (user.isDisabled || !isProven) return false
    return (this.#rules.linkVerified && hasProvenEmail(user)) || (await this.#hasNoWayIn(user))
  }

  async #hasNoWayIn({ id, passwordHash }: StoredUser): Promise<boolean> {
    return passwordHash === null && (await this.#records.find({ user_id: id })).length === 0
  }

  async #proven(user: StoredUser): Promise<StoredUser> {
    if (hasProvenEmail(user)) return user
    await this.#kit.proveEmail(user, user.email)
    return (await this.#kit.users.findUserById(user.id)) ?? user
  }

  #insert(
    user: StoredUser,
    { name, issuer }: SocialProvider,
    { subject, email }: Identity,
  ): Promise<boolean> {
    return this.#records.insert({
      id: idOf(issuer, subject),
      user_id: user.id,
      provider: name,
      issuer,
      subject,
      email: canonicalEmail(email),
      created_at: this.#kit.clock.now(),
      expires_at: NEVER,
    })
  }
}

/** The user of an identity. */
interface FoundUser {
  readonly user: StoredUser
  /** True for an account that was created just now. */
  readonly isNew: boolean
}

/** @throws Conflict `email_missing`. */
function addressOf(identity: Identity): string {
  const email = canonicalEmail(identity.email)
  if (email === null) throw accountRefused('email_missing')
  return email
}

function idOf(issuer: string, subject: string): string {
  return hashToken('social-account', JSON.stringify([issuer, subject]))
}

/** True if the owner of an account has proven its address. */
export function hasProvenEmail({ raw }: StoredUser): boolean {
  return typeof raw['email_verified_at'] === 'string'
}

function shown({
  id,
  provider,
  email,
  created_at: linkedAt,
  last_used_at: usedAt,
}: RecordRow): LinkedAccount {
  return {
    id: String(id),
    provider: String(provider),
    email: typeof email === 'string' ? email : null,
    linkedAt: new Date(Number(linkedAt)).toISOString(),
    lastUsedAt: typeof usedAt === 'number' ? new Date(usedAt).toISOString() : null,
  }
}
