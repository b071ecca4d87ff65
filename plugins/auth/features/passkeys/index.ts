/** Entry `@mortar/auth/passkeys`: sign-in with passkeys (WebAuthn), as a way in and as both factors. */
import { checkOptions } from 'mortar/kit'
import type { StoredUser } from '../../accounts/auth-store.ts'
import { SecondFactorRequired } from '../../errors.ts'
import { METHODS } from '../../flows/sessions.ts'
import { PASSKEY_FIELDS } from '../../routes/shapes.ts'
import { CHALLENGES } from '../challenges/table.ts'
import type { AuthFeature, ConnectedFeature, FeatureKit } from '../feature.ts'
import { forgetting } from '../forget-rows.ts'
import { createSessionMethods, MFA } from '../session-methods/session-methods.ts'
import { SESSION_METHODS } from '../session-methods/table.ts'
import { PASSKEY_METHODS, PasskeyOperations } from './operations.ts'
import { relyingParty } from './relying-party.ts'
import { passkeyRoutes } from './routes.ts'
import { StoredPasskeys } from './stored-passkeys.ts'
import { PASSKEYS } from './table.ts'
import type { AssertionResponse, CredentialJson } from './verify.ts'

export type { Passkey } from './stored-passkeys.ts'

/** Options of `passkeys`. */
export interface PasskeysOptions {
  /**
   * Domain of the passkeys, without scheme and port; by default the host of `appUrl`. With `example.com` they also work on
   * its subdomains. Another domain later makes every passkey worthless.
   */
  readonly rpId?: string
  /** Name of the application in the dialogue of the browser; the domain by default. */
  readonly rpName?: string
  /** Origins of pages that may use the passkeys, all on `rpId`; by default the origin of `appUrl`. */
  readonly origins?: readonly string[]
  /**
   * True if users with a passkey sign in with it alone: a password and another provider get 401 `second_factor_required`.
   * False by default.
   */
  readonly required?: boolean
}

/**
 * Passkeys (WebAuthn): users sign in without a password, by a device that has verified them. That is two factors, so no code
 * is asked for, and routes with `auth: 'mfa'` let such a session pass. Needs `recent()`.
 * @throws StartupError `MORTAR_AUTH_OPTION` at the start for a domain or an origin that no browser accepts.
 */
export function passkeys(options: PasskeysOptions = {}): AuthFeature {
  checkOptions(options, {
    of: 'passkeys()',
    brick: 'auth',
    keys: { rpId: 'string', rpName: 'string', origins: 'list', required: 'boolean' },
  })
  return {
    name: 'passkeys',
    requires: ['recent'],
    factorFields: PASSKEY_FIELDS,
    tables: [CHALLENGES, PASSKEYS, SESSION_METHODS],
    routes: [passkeyRoutes()],
    connect: (kit) => connect(kit, options),
  }
}

function connect(kit: FeatureKit, { required = false, ...options }: PasskeysOptions): ConnectedFeature {
  const stored = new StoredPasskeys(kit)
  const party = relyingParty(options, () => kit.linkTo(''))
  const refuseWithout = async (user: StoredUser) => {
    if (required && (await stored.rowsOf(user.id)).length > 0) throw new SecondFactorRequired(['passkey'])
  }
  const operations = new PasskeyOperations(kit, stored, party)
  return {
    ...createSessionMethods(kit),
    api: operations,
    policies: { mfa: MFA },
    async demand({ user, methods = METHODS }) {
      if (!methods.includes(PASSKEY_METHODS[0]!)) await refuseWithout(user)
    },
    async proveAgain(user) {
      await refuseWithout(user)
      return undefined
    },
    provePasskey: (user, passkey, caller) =>
      operations.confirm(user, passkey as CredentialJson<AssertionResponse>, caller),
    async waysIn(userId) {
      return (await stored.rowsOf(userId)).length
    },
    factors: { usersWith: (ids) => stored.usersWith(ids) },
    forget: forgetting(kit, PASSKEYS, ['auth.passkey.removed', 'passkey-removed']),
  }
}
