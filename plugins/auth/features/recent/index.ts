/** Entry `@mortar/auth/recent`: routes for users who proved a short time ago who they are. */
import type { Duration } from 'mortar'
import { checkOptions } from 'mortar/kit'
import { sessionOver, wrongCurrentPassword } from '../../errors.ts'
import { lifetime } from '../../options/options.ts'
import type { StoredUser } from '../../accounts/auth-store.ts'
import type { Caller } from '../../flows/proof.ts'
import { factorFields } from '../../routes/shapes.ts'
import { CLOCKS } from '../../flows/challenges.ts'
import type { AuthFeature, FeatureKit } from '../feature.ts'
import type { Confirm, Confirmation } from './confirm.ts'
import { confirmRoutes } from './routes.ts'
import { refused } from '../../refusals.ts'

/** Options of `recent`. */
export interface RecentOptions {
  /** Age of the last proof up to which `auth: 'fresh'` lets a user pass. Seconds or a duration; 10 minutes by default. */
  readonly within?: Duration
}

/**
 * The policy `fresh` and `POST /auth/confirm` (ASVS 7.5.1, 7.5.3). A route with `auth: 'fresh'` refuses a session whose
 * login, signup or confirmation is older than `within`; a refresh does not make a session younger.
 * @throws StartupError `MORTAR_AUTH_OPTION` for an invalid duration.
 */
export function recent(options: RecentOptions = {}): AuthFeature {
  checkOptions(options, { of: 'recent()', brick: 'auth', keys: { within: ['number', 'string'] } })
  const within = lifetime('within', options.within ?? '10m', 1, 86_400)
  return {
    name: 'recent',
    routes: (features) => [confirmRoutes(factorFields(features))],
    connect: (kit) => ({
      api: createConfirm(kit),
      policies: {
        fresh: ({ session }) => {
          // A token from before the claim, or of a test, may not have it. A clock that was far ahead makes no proof last longer.
          const age = kit.clock.now() - (session?.authenticatedAt ?? Number.NaN)
          if (!(age >= -CLOCKS && age <= within * 1000))
            throw refused('reauthentication_required', { extensions: { maxAge: within } })
          return true
        },
      },
    }),
  }
}

function createConfirm(kit: FeatureKit): Confirm {
  return {
    confirm(body, own, caller) {
      const known = { ...own }
      const attempt = { rule: 'changePassword', caller, counted: { user: own.userId } } as const
      return kit.attempt({ ...attempt, flow: 'confirm', known }, async () => {
        const user = await kit.sessions.owner(own)
        const methods = await prove(kit, user, body, caller)
        const grant = await kit.sessions.renew(user, own.sessionId, { caller, methods })
        if (grant === null) throw sessionOver()
        known.sessionId = grant.sessionId
        await kit.succeeded(attempt)
        return grant
      })
    },
  }
}

/** A passkey is both factors; else a password, and what features ask for besides. @returns the methods of the proof. */
async function prove(
  kit: FeatureKit,
  user: StoredUser,
  { password = '', ...codes }: Confirmation,
  caller: Caller,
): Promise<readonly string[]> {
  if (codes.passkey !== undefined) return kit.provePasskey(user, codes.passkey, caller)
  if (!(await kit.verifyPassword(user, password))) throw wrongCurrentPassword()
  return kit.proveAgain(user, codes, caller)
}
