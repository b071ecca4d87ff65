import type { StoredUser } from '../../accounts/auth-store.ts'
import type { RecordRow } from '../../accounts/records.ts'
import type { Caller } from '../../flows/proof.ts'
import type { FeatureKit } from '../feature.ts'
import { createBatches } from './batches.ts'
import { createFactorCodes, stepOfRow } from './factor-codes.ts'
import { randomSecret } from './one-time-code.ts'
import { createRecoveryCodes } from './recovery-codes.ts'
import { sealSecret } from './seal-secret.ts'
import { RECOVERY_CODES, TOTP } from './table.ts'
import { refused } from '../../refusals.ts'

/** Milliseconds for the confirmation of a set-up. */
const SET_UP = 600_000

/** The authenticators of users and their recovery codes. */
export type Authenticators = ReturnType<typeof createAuthenticators>

/** Creates the authenticators of one application. */
export function createAuthenticators(kit: FeatureKit) {
  const { clock, vault } = kit
  const records = kit.records(TOTP)
  const recovery = createRecoveryCodes(kit.records(RECOVERY_CODES))
  const codes = createFactorCodes(kit, records, recovery)
  const batches = createBatches(records, recovery)

  return {
    /** The active authenticator of a user. */
    async find(userId: string) {
      const [row] = await records.find({ user_id: userId, confirmed_at: { above: 0 } })
      return row ?? null
    },
    /** Stores a new secret that does not count yet. @throws Conflict `totp_exists`. */
    async begin({ id }: StoredUser) {
      const secret = randomSecret()
      const now = clock.now()
      const set = { ...sealSecret(vault, id, secret), created_at: now, expires_at: now + SET_UP }
      const isNew = await records.insert({ user_id: id, ...set, confirmed_at: null })
      // A set-up that was not confirmed is replaced.
      if (!isNew && (await records.update({ user_id: id, confirmed_at: null }, set)) === 0)
        throw refused('totp_exists')
      return secret
    },
    /**
     * Makes the authenticator of a set-up active, by its code. Of many concurrent calls one wins.
     * @returns the recovery codes, and a function that makes it a set-up again.
     * @throws Conflict `totp_missing`, Unauthorized `invalid_code`, LimitReached.
     */
    async confirm(user: StoredUser, code: string, caller: Caller) {
      const now = clock.now()
      const [row] = await records.find({ user_id: user.id, confirmed_at: null, expires_at: { above: now } })
      if (row === undefined) throw refused('totp_missing')
      const step = await codes.counted(user, caller, async () => stepOfRow(kit, row, code, caller))
      const confirmed = await batches.activate(row, { step, now })
      if (confirmed === null) throw refused('invalid_code')
      return confirmed
    },
    verify: codes.verify,
    giveBack: codes.giveBack,
    /** @returns new recovery codes, and a function that takes them away. @throws Conflict `totp_missing` if the authenticator was replaced meanwhile. */
    async renewRecovery(row: RecordRow) {
      const issued = await batches.renew(row, clock.now())
      if (issued === null) throw refused('totp_missing')
      return issued
    },
    remove: batches.remove,
  }
}
