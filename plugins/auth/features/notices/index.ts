/** Entry `@mortar/auth/notices`: mails about what happens to an account. */
import { clientNetwork } from 'mortar/kit'
import type { StoredUser } from '../../accounts/auth-store.ts'
import { deviceName } from '../../accounts/device-name.ts'
import type { Records } from '../../accounts/records.ts'
import type { Caller, FactorChange } from '../../flows/proof.ts'
import { hashToken } from '../../tokens/opaque-token.ts'
import type { AuthFeature } from '../feature.ts'
import type { MailTexts } from '../mails.ts'
import { CHALLENGES } from '../challenges/table.ts'
import { createDenial } from './denial.ts'
import { denialRoutes } from './routes.ts'
import { KNOWN_BROWSERS } from './table.ts'

/** Milliseconds for which a browser is known after its last login. */
const KNOWN_FOR = 30 * 86_400_000

/**
 * Mails to the owner of an account: a login from a new browser (ASVS 6.3.5), and each new password (6.3.7). A browser
 * is known by its device cookie, or by its kind and network for 30 days, until the password changes. Each mail has a link for an owner who did not do it.
 */
export function notices(): AuthFeature {
  return {
    name: 'notices',
    tables: [KNOWN_BROWSERS, CHALLENGES],
    routes: denialRoutes(),
    connect(kit) {
      const browsers = kit.records(KNOWN_BROWSERS)
      const denial = createDenial(kit)
      // The browser of a request that raised the version of this user.
      const keep = ({ id, passwordVersion }: StoredUser, caller: Caller) =>
        remember(browsers, { id, passwordVersion: passwordVersion + 1 }, caller, kit.clock.now())
      return {
        api: denial,
        denialLink: denial.linkFor,
        addressChanging: denial.keep,
        keeperOf: denial.keeperOf,
        async admitted({ user }, { way, isKnownDevice }, caller) {
          if (way === 'renewal' || isKnownDevice) return
          const isNew = await remember(browsers, user, caller, kit.clock.now())
          if (isNew && way === 'login') await kit.notify(user, newBrowser(caller), caller)
        },
        async factorChanged(user, change, caller) {
          await kit.notify(user, { kind: change, ...FACTOR_CHANGES[change], otherwise: OTHERWISE }, caller)
          if (change === 'factor-added') await keep(user, caller)
        },
        async passwordChanged(user, caller) {
          await kit.notify(user, PASSWORD_CHANGED, caller)
          await keep(user, caller)
        },
      }
    },
  }
}

/**
 * Returns true if the browser was not known since the last change of the password version: a new password, `signOut` and
 * `disable` forget each browser. Of many simultaneous logins of a new browser one gets true.
 */
async function remember(
  browsers: Records,
  { id, passwordVersion }: Pick<StoredUser, 'id' | 'passwordVersion'>,
  caller: Caller,
  now: number,
): Promise<boolean> {
  const place = JSON.stringify([
    id,
    passwordVersion,
    deviceName(caller.get?.('user-agent')),
    clientNetwork(caller.ip),
  ])
  const key = { browser_hash: hashToken('known-browser', place) }
  const expiry = { expires_at: now + KNOWN_FOR }
  if (await browsers.insert({ ...key, user_id: id, created_at: now, ...expiry })) return true
  if ((await browsers.update({ ...key, expires_at: { above: now } }, expiry)) > 0) return false
  return (await browsers.update({ ...key, expires_at: { atMost: now } }, expiry)) > 0
}

const OTHERWISE =
  'If it was not you, use this link: it ends every session of your account and removes every way to sign in that was added since, and you choose a new password.'

function newBrowser(caller: Caller): MailTexts {
  const device = deviceName(caller.get?.('user-agent'))
  return {
    kind: 'new-browser',
    subject: 'New sign-in to your account',
    why: `Somebody, probably you, has signed in to your account from a new browser: ${device}, address ${caller.ip}.`,
    otherwise: OTHERWISE,
  }
}

const PASSWORD_CHANGED: MailTexts = {
  kind: 'password-changed',
  subject: 'Your password was changed',
  why: 'The password of your account was changed. Every other session of your account has ended.',
  otherwise: OTHERWISE,
}

const FACTOR_CHANGES: Readonly<Record<FactorChange, { readonly subject: string; readonly why: string }>> = {
  'factor-added': {
    subject: 'A second factor was added to your account',
    why: 'An authenticator app was set up for your account. Every sign-in asks for its code from now on.',
  },
  'factor-removed': {
    subject: 'The second factor of your account was removed',
    why: 'The authenticator app of your account was removed. A sign-in asks for your password alone from now on.',
  },
  'account-linked': {
    subject: 'Your account was linked to another one',
    why: 'An account of another provider was linked to yours. It signs you in from now on.',
  },
  'account-unlinked': {
    subject: 'A linked account was removed from yours',
    why: 'An account of another provider was removed from yours. It does not sign you in any more.',
  },
  'passkey-added': {
    subject: 'A passkey was added to your account',
    why: 'A passkey was added to your account. It signs you in from now on, without a password.',
  },
  'passkey-removed': {
    subject: 'A passkey of your account was removed',
    why: 'A passkey of your account was removed. It does not sign you in any more.',
  },
  'recovery-code-used': {
    subject: 'A recovery code of your account was used',
    why: 'A recovery code of your account was used in place of the authenticator app. It is worthless now.',
  },
  'recovery-codes-renewed': {
    subject: 'Your account has new recovery codes',
    why: 'The recovery codes of your account were renewed. The earlier ones are worthless now.',
  },
}
