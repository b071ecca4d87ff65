import type { RecordRow, Records, Where } from '../../accounts/records.ts'
import { despiteLostReply, removeRow } from '../../flows/lost-reply.ts'
import type { RecoveryCodes } from './recovery-codes.ts'
import { UNFINISHED } from './table.ts'

/**
 * Creates the changes of an authenticator that concern its recovery codes. Each is one conditional statement, and if the
 * reply to it is lost, the stored batch decides: the response has codes that nobody can see again.
 */
export function createBatches(records: Records, recovery: RecoveryCodes) {
  const change = (where: Where, set: RecordRow & { readonly recovery_batch: string }) =>
    despiteLostReply(
      async () => (await records.update(where, set)) === 1,
      async () => {
        const { user_id: userId = null } = where
        return (await records.find({ user_id: userId, recovery_batch: set.recovery_batch })).length === 1
      },
    )

  return {
    /**
     * `step` is that of the code that was right.
     * @returns the recovery codes, and a function that makes it a set-up again; null if it was replaced meanwhile.
     */
    async activate(
      { user_id: userId = null, secret = null, expires_at: end = null }: RecordRow,
      step: number,
      now: number,
    ) {
      const active = { confirmed_at: now, last_step: step, expires_at: UNFINISHED }
      const issued = await recovery.issue(String(userId), now, (batch) =>
        change({ user_id: userId, secret, confirmed_at: null }, { ...active, recovery_batch: batch }),
      )
      if (issued === null) return null
      const { batch, codes: recoveryCodes } = issued
      const inactive = { confirmed_at: null, last_step: null, recovery_batch: null, expires_at: end }
      const withdraw = async () => {
        await records.update({ user_id: userId, recovery_batch: batch }, inactive)
        await recovery.remove(String(userId), batch)
      }
      return { recoveryCodes, withdraw }
    },
    /** @returns new recovery codes, and a function that takes them away; null if the authenticator was replaced meanwhile. */
    async renew({ user_id: userId = null, recovery_batch: old = null }: RecordRow, now: number) {
      const issued = await recovery.issue(String(userId), now, (batch) =>
        change({ user_id: userId, recovery_batch: old }, { recovery_batch: batch }),
      )
      if (issued === null) return null
      await recovery.remove(String(userId), String(old))
      return {
        recoveryCodes: issued.codes,
        withdraw: () => recovery.remove(String(userId), issued.batch),
      }
    },
    /** Removes the authenticator. @returns false if it was removed or replaced meanwhile. */
    async remove({ user_id: userId = null, recovery_batch: batch = null }: RecordRow) {
      const isRemoved = await removeRow(records, { user_id: userId, recovery_batch: batch })
      if (isRemoved) await recovery.remove(String(userId), String(batch))
      return isRemoved
    },
  }
}
