import type { StoredUser } from '../../accounts/auth-store.ts'
import type { RecordRow, Records } from '../../accounts/records.ts'
import { eventOrigin } from '../../flows/parts.ts'
import type { Caller, FactorCodes } from '../../flows/proof.ts'
import type { FeatureKit } from '../feature.ts'
import { stepOf } from './one-time-code.ts'
import type { RecoveryCodes } from './recovery-codes.ts'
import { openSecret, sealSecret } from './seal-secret.ts'
import { refused } from '../../refusals.ts'

/** Checks codes of authenticators. */
export interface CodeCheck {
  /** Returns the step of a code; undefined for a wrong code, and if no secret of the application opens the row. */
  stepOf(row: RecordRow, code: string, caller: Caller): number | undefined
  /**
   * Verifies a code and uses it up.
   * @returns the method of the code, named as in RFC 8176 where it has a name.
   * @throws Unauthorized `invalid_code`, LimitReached.
   */
  verify(user: StoredUser, row: RecordRow, codes: FactorCodes, caller: Caller): Promise<'otp' | 'rcv'>
  /**
   * Counts a try before its check: every wrong code of a user counts, wherever it was sent.
   * @returns the result of the check.
   * @throws Unauthorized `invalid_code` for undefined, LimitReached.
   */
  counted<T>(user: StoredUser, caller: Caller, check: () => Promise<T | undefined>): Promise<T>
}

/** Creates the check for the table of authenticators and the recovery codes of one application. */
export function createFactorCodes(kit: FeatureKit, records: Records, recovery: RecoveryCodes): CodeCheck {
  const { vault, clock, events } = kit
  const check: CodeCheck = {
    stepOf(row, code, caller) {
      const secret = openSecret(vault, row)
      if (secret !== null) return stepOf(secret, code, clock.now())
      events.emit('auth.factor.unreadable', { ...eventOrigin(caller), userId: String(row['user_id']) })
      return undefined
    },
    verify: (user, row, { code = '', recoveryCode }, caller) =>
      check.counted(user, caller, async () => {
        if (recoveryCode === undefined) return (await useStep(row, code, caller)) ? 'otp' : undefined
        return (await useRecoveryCode(user, row, recoveryCode, caller)) ? 'rcv' : undefined
      }),
    async counted(user, caller, work) {
      const attempt = { rule: 'code', caller, counted: { user: user.id } } as const
      const result = await kit.count(attempt, work)
      if (result === undefined) throw refused('invalid_code')
      await kit.succeeded(attempt)
      return result
    },
  }

  /** Each step is used once: the condition of the statement refuses it and all earlier ones from then on. */
  async function useStep(row: RecordRow, code: string, caller: Caller): Promise<boolean> {
    const step = check.stepOf(row, code, caller)
    if (step === undefined) return false
    const { user_id: userId = null, secret = null, key_id: keyId } = row
    const isStale = keyId !== vault.keyIds[0]
    const resealed = isStale && sealSecret(vault, String(userId), openSecret(vault, row)!)
    const unused = { user_id: userId, secret, last_step: { atMost: step - 1 } }
    return (await records.update(unused, { last_step: step, ...resealed })) === 1
  }

  async function useRecoveryCode(user: StoredUser, row: RecordRow, code: string, caller: Caller) {
    const batch = String(row['recovery_batch'])
    if (!(await recovery.use(batch, code))) return false
    const count = () => recovery.left(user.id, batch)
    // Twice, because a failure would cost the user a code.
    const left = await count().catch(count)
    events.emit('auth.recovery.used', { ...eventOrigin(caller), userId: user.id, left })
    await kit.factorChanged(user, 'recovery-code-used', caller)
    return true
  }

  return check
}
