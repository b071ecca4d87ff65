import { randomUUID } from 'node:crypto'
import type { StoredUser } from '../../accounts/auth-store.ts'
import { canonicalEmail } from '../../accounts/canonical-email.ts'
import { displayName } from '../../accounts/display-name.ts'
import { hasProvenEmail } from '../../accounts/proven-email.ts'
import { NEVER, type RecordRow, type Records } from '../../accounts/records.ts'
import { hashToken } from '../../tokens/opaque-token.ts'
import type { FeatureKit } from '../feature.ts'
import { ownerStill } from '../as-owner.ts'
import { removeWayIn } from '../remove-way-in.ts'
import type { Identity, SocialProvider } from './providers.ts'
import { shown, type LinkedAccount } from './linked-account.ts'
import { ACCOUNTS } from './table.ts'
import type { OwnSession } from '../../flows/proof.ts'
import { refused } from '../../refusals.ts'

/** Rules of `social()` for accounts that are not linked yet. */
export interface LinkRules {
  readonly signUp: boolean
  readonly linkVerified: boolean
  readonly providers: readonly SocialProvider[]
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
    const id = idOf(identity)
    const linked = await this.#linkedUser(id)
    if (linked === undefined) return this.#userByAddress(provider, identity)
    const use = { last_used_at: this.#kit.clock.now() }
    // After the user was read: a session of this version must not begin by an account that was removed with the version before.
    if ((await this.#records.update({ id, user_id: linked.id }, use)) === 0) throw refused('sign_in_again')
    return { user: linked, isNew: false }
  }

  /**
   * Links an identity to a user who is signed in.
   * @returns the user; null for an identity that is linked to this user already.
   * @throws Conflict `account_linked_elsewhere`, Unauthorized.
   */
  async link(provider: SocialProvider, identity: Identity, own: OwnSession): Promise<StoredUser | null> {
    const user = await this.#kit.sessions.owner(own)
    const id = idOf(identity)
    const linked = await this.#linkedUser(id)
    if (linked === undefined && (await this.#insert(user, provider, identity)))
      return ownerStill(this.#kit, own, () => this.#records.remove({ id, user_id: user.id }))
    const owner = linked ?? (await this.#linkedUser(id))
    if (owner?.id !== user.id) throw refused('account_linked_elsewhere')
    return null
  }

  async list(userId: string): Promise<readonly LinkedAccount[]> {
    return (await this.#records.find({ user_id: userId })).map(shown)
  }

  /** @returns false if the user has no such account. @throws Conflict `last_way_in`. */
  async unlink(user: StoredUser, id: string): Promise<boolean> {
    const [row] = await this.#records.find({ id })
    if (row === undefined) return false
    if (!this.#signsIn(row)) return this.remove(user.id, id)
    return removeWayIn(this.#kit, this.#records, { user, row })
  }

  /** Counts the accounts that sign a user in. */
  async waysIn(userId: string): Promise<number> {
    return (await this.#rowsOf(userId)).signIn.length
  }

  /** Removes an account of a user, also the last way in. @returns false if the user has no such account. */
  async remove(userId: string, id: string): Promise<boolean> {
    return (await this.#records.remove({ id, user_id: userId })) > 0
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
    const address = {
      email: addressOf(identity),
      isProven: provider.trustEmail && identity.emailVerified === true,
    }
    const { own, isNew } = await this.#accountFor(identity, address)
    if (own !== null && (await this.#insert(own, provider, identity))) {
      if (!this.#isOwners(own)) await this.#beAlone(own, idOf(identity))
      return { user: address.isProven ? await this.#proven(own) : own, isNew, isLinked: !isNew }
    }
    // Another request of the same identity may have been faster.
    const faster = await this.#linkedUser(idOf(identity))
    if (faster === undefined) throw refused(own === null ? 'account_exists' : 'sign_in_again')
    return { user: faster, isNew: false }
  }

  /** Creates the account of an address, or returns the one that has it, if the identity may sign in to it. */
  async #accountFor(identity: Identity, address: IdentityAddress) {
    const before = await this.#kit.users.findUserByEmail(address.email)
    const created = before === null ? await this.#create(identity, address) : null
    if (created !== null) return { own: created, isNew: true }
    const user = before ?? (await this.#kit.users.findUserByEmail(address.email))
    return { own: user && (await this.#adopted(user, address.isProven)), isNew: false }
  }

  /** Of two identities that find an account without a way in, neither may let the other in; nor may a passkey. */
  async #beAlone(user: StoredUser, id: string): Promise<void> {
    if ((await this.#kit.waysIn(user)) === 1) return
    await this.#records.remove({ id, user_id: user.id })
    throw refused('sign_in_again')
  }

  async #create({ name }: Identity, { email, isProven }: IdentityAddress): Promise<StoredUser | null> {
    if (!this.#rules.signUp) throw refused('no_account')
    if (this.#kit.refusesUnverified && !isProven) throw refused('email_unverified')
    const shownName = typeof name === 'string' ? displayName(name) : null
    return this.#kit.accounts.create({
      id: randomUUID(),
      name: shownName ?? email.slice(0, email.indexOf('@')),
      email,
      passwordHash: null,
      now: this.#kit.clock.now(),
    })
  }

  /**
   * Returns an account that was there before, if the identity may sign in to it. Whoever registered an address first must
   * not get its owner's sign-in, and the other way round. An account without any way in, which an invitation or a crash
   * has left behind, belongs to whoever has proven the address.
   */
  async #adopted(user: StoredUser, isProven: boolean): Promise<StoredUser | null> {
    if (user.isDisabled || !isProven) return null
    if (this.#isOwners(user)) return user
    // Before the look-up of ways in: a session that is older than every way in belongs to somebody else.
    const sessions = await this.#kit.sessions.list(user)
    if (!(await this.#hasNoWayIn(user))) return null
    // Whoever has proven the address must not share the account if such a provider comes back.
    for (const { id = null } of (await this.#rowsOf(user.id)).idle)
      await this.#records.remove({ id, user_id: user.id })
    return sessions.length > 0 ? this.#kit.sessions.endAll(user) : user
  }

  #isOwners(user: StoredUser): boolean {
    return this.#rules.linkVerified && hasProvenEmail(user)
  }

  async #hasNoWayIn(user: StoredUser): Promise<boolean> {
    return (await this.#kit.waysIn(user)) === 0
  }

  /** Rows that sign the user in, and those whose provider is not configured any more. */
  async #rowsOf(userId: string) {
    const rows = await this.#records.find({ user_id: userId })
    const isIdle = (row: RecordRow) => !this.#signsIn(row)
    return { signIn: rows.filter((row) => !isIdle(row)), idle: rows.filter(isIdle) }
  }

  #signsIn({ issuer: stored }: RecordRow): boolean {
    const known = withoutSlash(String(stored))
    return this.#rules.providers.some(({ issuer }) => withoutSlash(issuer) === known)
  }

  async #proven(user: StoredUser): Promise<StoredUser> {
    if (hasProvenEmail(user)) return user
    await this.#kit.proveEmail(user, user.email)
    return (await this.#kit.users.findUserById(user.id)) ?? user
  }

  #insert(user: StoredUser, { name }: SocialProvider, identity: Identity): Promise<boolean> {
    return this.#records.insert({
      id: idOf(identity),
      user_id: user.id,
      provider: name,
      issuer: identity.issuer,
      subject: identity.subject,
      email: canonicalEmail(identity.email),
      created_at: this.#kit.clock.now(),
      expires_at: NEVER,
    })
  }
}

/** The canonical address of an identity, and whether its provider has proven it. */
interface IdentityAddress {
  readonly email: string
  readonly isProven: boolean
}

/** The user of an identity. */
interface FoundUser {
  readonly user: StoredUser
  /** True for an account that was created just now. */
  readonly isNew: boolean
  /** True if the identity was linked just now to an account that was there before. */
  readonly isLinked?: boolean
}

/** @throws Conflict `email_missing`. */
function addressOf(identity: Identity): string {
  const email = canonicalEmail(identity.email)
  if (email === null) throw refused('email_missing')
  return email
}

/** A provider may write its issuer otherwise than the option does. */
function withoutSlash(issuer: string): string {
  return issuer.replace(/\/$/, '')
}

function idOf({ issuer, subject }: Identity): string {
  return hashToken('social-account', JSON.stringify([issuer, subject]))
}
