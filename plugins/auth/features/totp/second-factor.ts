import { ignore } from 'mortar/kit'
import type { StoredUser } from '../../accounts/auth-store.ts'
import type { RecordRow } from '../../accounts/records.ts'
import { sessionOver } from '../../errors.ts'
import type { Caller, FactorCodes, Grant, OwnSession } from '../../flows/proof.ts'
import { asOwner, ownerStill, type OwnAttempt } from '../as-owner.ts'
import type { FeatureKit } from '../feature.ts'
import type { Authenticators } from './authenticators.ts'
import { otpauthUri } from './one-time-code.ts'
import { createSecondStep } from './second-step.ts'
import { withFactor } from '../session-methods/session-methods.ts'
import { refused } from '../../refusals.ts'

type Owner = Pick<OwnAttempt, 'own' | 'caller'>

/** The operations behind the routes of `totp()`. Each throws LimitReached; those of a session throw Unauthorized once it is over. */
export type SecondFactor = ReturnType<typeof createSecondFactor>

/** Ends every session of a user with a new factor, and begins one of the caller. @throws Unauthorized if another change has ended it. */
async function beginAgain(
  { sessions }: FeatureKit,
  user: StoredUser,
  { own, caller }: Owner,
): Promise<Grant> {
  // After the statement that makes the factor active, so that no login in progress passes without it.
  const raised = await sessions.endAll(user)
  const renew = () =>
    sessions.renew(raised, own.sessionId, { caller, methods: withFactor('otp'), isOver: true })
  // Twice, because the first attempt may have met a connection that was lost before.
  const grant = await renew().catch(renew)
  if (grant === null) throw sessionOver()
  return grant
}

/** Creates the operations of one application. */
export function createSecondFactor(kit: FeatureKit, authenticators: Authenticators, issuer: string) {
  const verified = async (user: StoredUser, codes: FactorCodes, caller: Caller): Promise<RecordRow> => {
    const row = await authenticators.find(user.id)
    if (row === null) throw refused('totp_missing')
    await authenticators.verify(user, row, codes, caller)
    return row
  }

  return {
    /** @throws Conflict `totp_exists`. */
    setUp: (own: OwnSession, caller: Caller) =>
      asOwner(kit, { flow: 'enrolFactor', rule: 'totp', own, caller }, async (user) => {
        const secret = await authenticators.begin(user)
        return { secret, uri: otpauthUri(secret, issuer, user.email) }
      }),
    /**
     * Makes the factor active and ends every other session. The caller continues under a new session.
     * @throws Conflict `totp_missing`, Unauthorized `invalid_code`.
     */
    confirm: (code: string, own: OwnSession, caller: Caller) =>
      asOwner(kit, { flow: 'addFactor', rule: 'totp', own, caller }, async (user) => {
        const { recoveryCodes, withdraw } = await authenticators.confirm(user, code, caller)
        const grant = await beginAgain(kit, user, { own, caller }).catch(async (error: unknown) => {
          // Nobody has seen the recovery codes, so the user confirms again.
          await withdraw().catch(ignore)
          throw error
        })
        await kit.factorChanged(user, 'factor-added', caller)
        await authenticators.finish(user.id).catch(ignore)
        return { recoveryCodes, grant }
      }),
    /** @throws Conflict `totp_missing`, Unauthorized `invalid_code`. */
    remove: (codes: FactorCodes, own: OwnSession, caller: Caller) =>
      asOwner(kit, { flow: 'removeFactor', rule: 'totp', own, caller }, async (user) => {
        if (!(await authenticators.remove(await verified(user, codes, caller)))) throw refused('totp_missing')
        await kit.factorChanged(user, 'factor-removed', caller)
      }),
    /** @returns new recovery codes. @throws Conflict `totp_missing`, Unauthorized `invalid_code`. */
    renewRecovery: (codes: FactorCodes, own: OwnSession, caller: Caller) =>
      asOwner(kit, { flow: 'renewRecovery', rule: 'totp', own, caller }, async (user) => {
        const renewed = await authenticators.renewRecovery(await verified(user, codes, caller))
        await ownerStill(kit, own, renewed.withdraw)
        await kit.factorChanged(user, 'recovery-codes-renewed', caller)
        return renewed.recoveryCodes
      }),
    logIn: createSecondStep(kit, authenticators),
  }
}
