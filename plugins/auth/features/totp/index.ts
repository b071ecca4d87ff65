/** Entry `@mortar/auth/totp`: one-time codes of an authenticator app as a second factor, with recovery codes. */
import { checkOptions } from 'mortar/kit'
import { SecondFactorRequired } from '../../errors.ts'
import type { StoredUser } from '../../accounts/auth-store.ts'
import { NEVER } from '../../accounts/records.ts'
import { FACTOR_FIELDS } from '../../routes/shapes.ts'
import type { AuthFeature, ConnectedFeature, FeatureKit } from '../feature.ts'
import { forgetting } from '../forget-rows.ts'
import { CHALLENGES } from '../challenges/table.ts'
import { METHODS } from '../../flows/sessions.ts'
import { wrongOption } from '../../options/wrong-option.ts'
import { createAuthenticators } from './authenticators.ts'
import { totpFindings } from './doctor.ts'
import { createFactorOperations } from './operations.ts'
import { totpRoutes } from './routes.ts'
import { createSessionMethods, MFA, withFactor } from '../session-methods/session-methods.ts'
import { SESSION_METHODS } from '../session-methods/table.ts'
import { RECOVERY_CODES, TOTP } from './table.ts'
import { createSecondFactor } from './second-factor.ts'
import { askForSecondStep, FACTORS } from './second-step.ts'

/** Options of `totp`. */
export interface TotpOptions {
  /** Name of the application in the authenticator app; by default the host of `appUrl`. */
  readonly issuer?: string
}

/**
 * A second factor (ASVS 6.3.3): codes of an authenticator app (RFC 6238), and ten recovery codes. Once a user has set it
 * up, a login, a confirmation and a change of the password ask for a code too. Routes with `auth: 'mfa'` need a session
 * that began with one. Needs `recent()`.
 * @throws StartupError `MORTAR_AUTH_OPTION` for an issuer that is empty or has a colon.
 */
export function totp(options: TotpOptions = {}): AuthFeature {
  checkOptions(options, { of: 'totp()', brick: 'auth', keys: { issuer: 'string' } })
  // A colon separates it from the address in the app.
  if (options.issuer !== undefined && !/^[^:]+$/.test(options.issuer))
    throw wrongOption(
      'issuer of totp() is empty or has a colon',
      'Write the name of the application, or leave it out: the host of appUrl is the default.',
    )
  return {
    name: 'totp',
    requires: ['recent'],
    tables: [CHALLENGES, TOTP, RECOVERY_CODES, SESSION_METHODS],
    factorFields: FACTOR_FIELDS,
    routes: (features) => [totpRoutes(features)],
    doctor: totpFindings,
    connect: (kit) => connect(kit, options.issuer ?? hostOf(kit.services.appUrl)),
  }
}

function connect(kit: FeatureKit, issuer: string): ConnectedFeature {
  const authenticators = createAuthenticators(kit)
  const forgetActive = forgetting(kit, TOTP, ['auth.factor.removed', 'factor-removed'])
  const forget = async (user: StoredUser, since = 0) => {
    await kit.records(RECOVERY_CODES).remove({ user_id: user.id, created_at: { above: since } })
    return forgetActive(user, since, { confirmed_at: { above: 0 } })
  }
  return {
    ...createSessionMethods(kit),
    api: createSecondFactor(kit, authenticators, issuer),
    policies: { mfa: MFA },
    async demand({ user, methods = METHODS, isKnownDevice = false }) {
      if (methods.includes('mfa') || (await authenticators.find(user.id)) === null) return
      await askForSecondStep(kit, user, { isKnownDevice, methods })
    },
    async proveAgain(user, codes, caller) {
      const row = await authenticators.find(user.id)
      if (row === null) return undefined
      if (codes.code === undefined && codes.recoveryCode === undefined)
        throw new SecondFactorRequired(FACTORS)
      return withFactor(await authenticators.verify(user, row, codes, caller))
    },
    failed: authenticators.giveBack,
    tidy: authenticators.tidy,
    factors: createFactorOperations(kit),
    // A factor from before the first proof of the address would lock its owner out. Where nobody is asked for a proof, a
    // reset says nothing about that.
    forget: (user, since = kit.asksForProof ? 0 : NEVER) => forget(user, since),
  }
}

function hostOf(appUrl: string | undefined): string {
  return appUrl === undefined ? 'Mortar' : new URL(appUrl).hostname
}
