import type { StoredUser } from '../../accounts/auth-store.ts'
import { displayName } from '../../accounts/display-name.ts'
import type { RecordRow } from '../../accounts/records.ts'
import type { Known } from '../../events/outcomes.ts'
import { eventOrigin } from '../../flows/parts.ts'
import type { Caller, Grant, OwnSession } from '../../flows/proof.ts'
import { asOwner, attemptOf, ownerStill } from '../as-owner.ts'
import type { FeatureKit } from '../feature.ts'
import type { RelyingParty } from './relying-party.ts'
import { shown, type Passkey, type StoredPasskeys } from './stored-passkeys.ts'
import {
  challengeOf,
  PasskeyRefused,
  verifyAssertion,
  verifyRegistration,
  type AssertionResponse,
  type CredentialJson,
  type RegistrationResponse,
} from './verify.ts'
import { refused } from '../../refusals.ts'

/** Purposes of the challenges: one for each ceremony. */
const REGISTRATION = 'passkey-registration'
const LOGIN = 'passkey-login'
const CONFIRM = 'passkey-confirm'
/** Limit of a user's own passkeys. */
const RULE = 'ownPasskeys'
/** Seconds for a ceremony. */
export const LIFETIME = 300
/** The methods of a session that a passkey began. The device and its PIN or biometry are two factors. */
export const PASSKEY_METHODS: readonly string[] = ['pk', 'mfa']

/** Facts for the browser about a confirmation. */
export interface ConfirmationStart {
  readonly challenge: string
  /** Ids of the passkeys that the user has. */
  readonly known: readonly string[]
}

/** Facts for the browser about a registration. */
export interface RegistrationStart extends ConfirmationStart {
  readonly party: RelyingParty
  readonly userHandle: string
  readonly user: StoredUser
}

/** The operations behind the routes of `passkeys()`, of one application. */
export class PasskeyOperations {
  readonly party: RelyingParty
  readonly #kit: FeatureKit
  readonly #passkeys: StoredPasskeys

  constructor(kit: FeatureKit, passkeys: StoredPasskeys, party: RelyingParty) {
    this.#kit = kit
    this.#passkeys = passkeys
    this.party = party
  }

  /** @throws Unauthorized if the session is over, LimitReached. */
  beginRegistration(own: OwnSession, caller: Caller): Promise<RegistrationStart> {
    return this.#kit.begin(attemptOf({ flow: 'addPasskey', rule: RULE, own, caller }), async () => {
      const user = await this.#kit.sessions.owner(own)
      const rows = await this.#passkeys.rowsOf(user.id)
      const userHandle = this.#passkeys.handleOf(rows)
      const challenge = await this.#kit.challenges.issue({
        purpose: REGISTRATION,
        user,
        lifetime: LIFETIME,
        data: userHandle,
      })
      return { challenge, party: this.party, userHandle, user, known: idsOf(rows) }
    })
  }

  /** @throws Unauthorized `invalid_passkey`, Conflict `passkey_exists`, LimitReached. */
  add(
    credential: CredentialJson<RegistrationResponse>,
    name: string,
    { own, caller }: { readonly own: OwnSession; readonly caller: Caller },
  ): Promise<Passkey> {
    return asOwner(this.#kit, { flow: 'addPasskey', rule: RULE, own, caller }, async (user) => {
      const userHandle = (await this.#redeem(REGISTRATION, user, credential))!
      const made = this.#checked(() => verifyRegistration(credential, this.party))
      const passkey = await this.#passkeys.add(user, { ...made, userHandle, name: displayName(name)! })
      if (passkey === null) throw refused('passkey_exists')
      await ownerStill(this.#kit, own, () => this.#passkeys.drop({ id: passkey.id, user_id: user.id }))
      await this.#kit.factorChanged(user, 'passkey-added', caller)
      return passkey
    })
  }

  /** @throws Unauthorized if the session is over. */
  async list(own: OwnSession): Promise<readonly Passkey[]> {
    const user = await this.#kit.sessions.owner(own)
    return (await this.#passkeys.rowsOf(user.id)).map(shown)
  }

  /** @throws NotFound `unknown_passkey`, Conflict `last_way_in`, Unauthorized, LimitReached. */
  remove(id: string, own: OwnSession, caller: Caller): Promise<void> {
    return asOwner(this.#kit, { flow: 'removePasskey', rule: RULE, own, caller }, async (user) => {
      if (!(await this.#passkeys.remove(user, id))) throw refused('unknown_passkey')
      await this.#kit.factorChanged(user, 'passkey-removed', caller)
    })
  }

  /** Returns the challenge of a login. Nothing is stored, so strangers cannot fill the table. @throws LimitReached. */
  beginLogIn(caller: Caller): Promise<string> {
    const attempt = { flow: 'passkey', rule: 'passkey', caller, known: {}, counted: {} } as const
    return this.#kit.begin(attempt, async () => this.#kit.challenges.offer(LOGIN, LIFETIME))
  }

  /**
   * Signs in the owner of a passkey. `presented` is the refresh token of the browser's previous session, which ends.
   * @throws Unauthorized `invalid_passkey`, LimitReached, and what other features ask for.
   */
  logIn(
    credential: CredentialJson<AssertionResponse>,
    caller: Caller,
    presented: string | null,
  ): Promise<Grant> {
    const known: Known = {}
    const attempt = { flow: 'passkey', rule: 'passkey', caller, known, counted: {} } as const
    return this.#kit.attempt(attempt, async () => {
      const row = await this.#passkeys.find(credential.id)
      const user = row === undefined ? null : await this.#userOf(row)
      if (row === undefined || user === null) throw refused('invalid_passkey')
      known.userId = user.id
      if (!(await this.#kit.challenges.spend(LOGIN, challengeOf(credential) ?? '', user)))
        throw refused('invalid_passkey')
      await this.#prove(row, credential, caller)
      const login = { caller, presented, methods: PASSKEY_METHODS, isKnownDevice: false }
      const grant = await this.#kit.sessions.begin(user, login)
      if (grant === null) throw refused('invalid_passkey')
      known.sessionId = grant.sessionId
      return grant
    })
  }

  /** @returns a challenge, and the ids of the user's passkeys. @throws Unauthorized if the session is over, LimitReached. */
  beginConfirmation(own: OwnSession, caller: Caller): Promise<ConfirmationStart> {
    return this.#kit.begin(attemptOf({ flow: 'confirm', rule: RULE, own, caller }), async () => {
      const user = await this.#kit.sessions.owner(own)
      const rows = await this.#passkeys.rowsOf(user.id)
      const challenge = await this.#kit.challenges.issue({ purpose: CONFIRM, user, lifetime: LIFETIME })
      return { challenge, known: idsOf(rows) }
    })
  }

  /** Proves a user again. @returns the methods of the proof. @throws Unauthorized `invalid_passkey`. */
  async confirm(user: StoredUser, credential: CredentialJson<AssertionResponse>, caller: Caller) {
    const row = await this.#passkeys.find(credential.id)
    if (row?.['user_id'] !== user.id) throw refused('invalid_passkey')
    await this.#redeem(CONFIRM, user, credential)
    // With a list of ids, an authenticator may leave the handle out.
    const userHandle = credential.response.userHandle ?? String(row['user_handle'])
    await this.#prove(row, { ...credential, response: { ...credential.response, userHandle } }, caller)
    return PASSKEY_METHODS
  }

  /** Uses a challenge up before its response is checked, so that none is checked twice. @returns its data. */
  async #redeem(
    purpose: typeof REGISTRATION | typeof CONFIRM,
    user: StoredUser,
    credential: CredentialJson<{ readonly clientDataJSON: string }>,
  ): Promise<string | null> {
    const challenge = await this.#kit.challenges.find(purpose, challengeOf(credential) ?? '')
    if (challenge?.user.id !== user.id || !(await this.#kit.challenges.redeem(challenge)))
      throw refused('invalid_passkey')
    return challenge.data
  }

  async #prove(row: RecordRow, credential: CredentialJson<AssertionResponse>, caller: Caller): Promise<void> {
    const { public_key: publicKey, algorithm, user_handle: handle, user_id: userId } = row
    const passkey = { publicKey: String(publicKey), algorithm: Number(algorithm) }
    const used = this.#checked(() => {
      if (credential.response.userHandle !== handle)
        throw new PasskeyRefused('the user handle is not that of the passkey')
      return verifyAssertion(credential, passkey, this.party)
    })
    if (await this.#passkeys.use(row, used)) return
    if ((await this.#passkeys.find(credential.id)) !== undefined)
      this.#kit.events.emit('auth.passkey.copied', { ...eventOrigin(caller), userId: String(userId) })
    throw refused('invalid_passkey')
  }

  /** Logs the reason of a refusal, since a wrong origin or domain is an error of the set-up. */
  #checked<T>(check: () => T): T {
    try {
      return check()
    } catch (error) {
      if (!(error instanceof PasskeyRefused)) throw error
      this.#kit.logger.warn({ reason: error.message }, 'A passkey was refused')
      throw refused('invalid_passkey')
    }
  }

  /** A document database keeps the passkey of a deleted user. */
  async #userOf(row: RecordRow): Promise<StoredUser | null> {
    const user = await this.#kit.users.findUserById(String(row['user_id']))
    if (user === null) await this.#passkeys.drop(row)
    return user
  }
}

function idsOf(rows: readonly RecordRow[]): readonly string[] {
  return rows.map((row) => String(row['credential_id']))
}
