import { unknownSecret } from '../../errors.ts'
import type { StoredUser } from '../../accounts/auth-store.ts'
import type { RecordRow, Records } from '../../accounts/records.ts'
import { eventOrigin } from '../../flows/parts.ts'
import type { Caller, FactorCodes } from '../../flows/proof.ts'
import type { FeatureKit } from '../feature.ts'
import { stepOf } from './one-time-code.ts'
import type { RecoveryCodes } from './recovery-codes.ts'
import { openSecret, sealSecret } from './seal-secret.ts'
import { refused } from '../../refusals.ts'

/** Creates the check of codes for the table of authenticators and the recovery codes of one application. */
export function createFactorCodes(kit: FeatureKit, records: Records, recovery: RecoveryCodes) {
  const { vault, events } = kit
  const used = new WeakMap<Caller, () => Promise<unknown>>()

  /**
   * Counts a try before its check: every wrong code of a user counts, wherever it was sent.
   * @returns the result of the check.
   * @throws Unauthorized `invalid_code` for undefined, LimitReached.
   */
  async function counted<T>(
    user: StoredUser,
    caller: Caller,
    check: () => Promise<T | undefined>,
  ): Promise<T> {
    const attempt = { rule: 'code', caller, counted: { user: user.id } } as const
    const result = await kit.count(attempt, check)
    if (result === undefined) throw refused('invalid_code')
    await kit.succeeded(attempt)
    return result
  }

  /** Each step is used once: the condition of the statement refuses it and all earlier ones from then on. */
  async function useStep(row: RecordRow, code: string, caller: Caller): Promise<boolean> {
    const step = stepOfRow(kit, row, code, caller)
    if (step === undefined) return false
    const { user_id: userId = null, secret = null, key_id: keyId } = row
    const isStale = keyId !== vault.keyIds[0]
    const resealed = isStale && sealSecret(vault, String(userId), openSecret(vault, row)!)
    const unused = { user_id: userId, secret, last_step: { atMost: step - 1 } }
    return (await records.update(unused, { last_step: step, ...resealed })) === 1
  }

  async function useRecoveryCode(user: StoredUser, row: RecordRow, code: string, caller: Caller) {
    const batch = String(row['recovery_batch'])
    const giveBack = await recovery.use(batch, code)
    if (giveBack === null) return false
    used.set(caller, async () => {
      await giveBack()
      // A reset, and the link of a notice, remove only rows that are stored when the sessions have ended.
      const now = await kit.users.findUserById(user.id)
      if (now?.passwordVersion !== user.passwordVersion) await recovery.use(batch, code)
    })
    const left = await recovery.left(user.id, batch)
    events.emit('auth.recovery.used', { ...eventOrigin(caller), userId: user.id, left })
    await kit.factorChanged(user, 'recovery-code-used', caller)
    return true
  }

  return {
    counted,
    /**
     * Verifies a code and uses it up.
     * @returns the method of the code, named as in RFC 8176 where it has a name.
     * @throws Unauthorized `invalid_code`, LimitReached.
     */
    verify: (user: StoredUser, row: RecordRow, { code = '', recoveryCode }: FactorCodes, caller: Caller) =>
      counted<'otp' | 'rcv'>(user, caller, async () => {
        if (recoveryCode === undefined) return (await useStep(row, code, caller)) ? 'otp' : undefined
        return (await useRecoveryCode(user, row, recoveryCode, caller)) ? 'rcv' : undefined
      }),
    /** Makes a recovery code valid again that a request has used, which the server could not complete. */
    giveBack: async (caller: Caller) => used.get(caller)?.(),
  }
}

/**
 * Returns the step of a code; undefined for a wrong code.
 * @throws ServiceUnavailable if no secret of this process opens the row, as another process may have a newer one.
 */
export function stepOfRow(
  { vault, clock, events }: FeatureKit,
  row: RecordRow,
  code: string,
  caller: Caller,
): number | undefined {
  const secret = openSecret(vault, row)
  if (secret !== null) return stepOf(secret, code, clock.now())
  events.emit('auth.factor.unreadable', { ...eventOrigin(caller), userId: String(row['user_id']) })
  throw unknownSecret('The code cannot be checked')
}
