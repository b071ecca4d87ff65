import type { StoredUser } from '../../accounts/auth-store.ts'
import { SecondFactorRequired } from '../../errors.ts'
import type { Known } from '../../events/outcomes.ts'
import type { Caller, FactorCodes, Grant } from '../../flows/proof.ts'
import type { FeatureKit } from '../feature.ts'
import type { Authenticators } from './authenticators.ts'
import { withFactor } from '../session-methods/session-methods.ts'
import { refused } from '../../refusals.ts'

/** The challenge between the two steps of a login: five tries within five minutes. */
const PURPOSE = 'second-factor'
const LIFETIME = 300
const TRIES = 5

/** Names of the fields that the second step accepts. */
export const FACTORS: readonly string[] = ['code', 'recoveryCode']

/** Facts about the first step of a login, kept with its challenge. */
interface FirstStep {
  readonly isKnownDevice: boolean
  readonly methods: readonly string[]
}

/** Body of the second step of a login. */
export interface SecondStep extends FactorCodes {
  readonly challenge: string
}

/**
 * The second step of a login. `presented` is the refresh token of the browser's previous session, which ends.
 * @throws Unauthorized `invalid_challenge`, `invalid_code`; LimitReached.
 */
export type LogInWithFactor = (step: SecondStep, caller: Caller, presented: string | null) => Promise<Grant>

/** @throws Unauthorized `second_factor_required` with a challenge for the second step. */
export async function askForSecondStep(kit: FeatureKit, user: StoredUser, first: FirstStep): Promise<never> {
  const data = JSON.stringify(first)
  const challenge = await kit.challenges.issue({
    purpose: PURPOSE,
    user,
    lifetime: LIFETIME,
    tries: TRIES,
    data,
  })
  throw new SecondFactorRequired(FACTORS, { challenge, expiresIn: LIFETIME })
}

/** Creates the second step of logins. The session begins as after any login, so other features may ask for more. */
export function createSecondStep(kit: FeatureKit, authenticators: Authenticators): LogInWithFactor {
  return ({ challenge: token, ...codes }, caller, presented) => {
    const known: Known = {}
    return kit.attempt({ flow: 'factor', rule: 'factor', caller, known, counted: {} }, async () => {
      const challenge = await kit.challenges.attempt(PURPOSE, token)
      if (challenge === null) throw refused('invalid_challenge')
      const { user, data } = challenge
      known.userId = user.id
      const row = await authenticators.find(user.id)
      if (row === null) throw refused('invalid_challenge')
      const first = JSON.parse(data!) as FirstStep
      const methods = withFactor(await authenticators.verify(user, row, codes, caller), first.methods)
      if (!(await kit.challenges.redeem(challenge))) throw refused('invalid_challenge')
      const { isKnownDevice } = first
      const grant = await kit.sessions.begin(user, { caller, methods, isKnownDevice, presented })
      if (grant === null) throw refused('invalid_challenge')
      known.sessionId = grant.sessionId
      return grant
    })
  }
}
