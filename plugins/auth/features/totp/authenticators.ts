import type { StoredUser } from '../../accounts/auth-store.ts'
import { NEVER, type RecordRow, type Records } from '../../accounts/records.ts'
import { CODE } from '../../flows/parts.ts'
import type { Caller } from '../../flows/proof.ts'
import type { FeatureKit } from '../feature.ts'
import { createBatches } from './batches.ts'
import { createFactorCodes, stepOfRow } from './factor-codes.ts'
import { randomSecret } from './one-time-code.ts'
import { createRecoveryCodes } from './recovery-codes.ts'
import { sealSecret } from './seal-secret.ts'
import { RECOVERY_CODES, TOTP, UNFINISHED } from './table.ts'
import { refused } from '../../refusals.ts'

/** Milliseconds for the confirmation of a set-up, after which no request still finishes its activation either. */
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
    ...createFinish(kit, records),
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
      const confirmed = await batches.activate(row, step, now)
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

/** Creates the last step of an activation, and the clean-up that repeats it. */
function createFinish(kit: FeatureKit, records: Records) {
  /** As of now, so that the link of its notice removes it. @returns false if another process has done it. */
  const finish = async (userId: string) => {
    const finished = { created_at: kit.clock.now(), expires_at: NEVER }
    return (await records.update({ user_id: userId, expires_at: UNFINISHED }, finished)) === 1
  }
  return {
    finish,
    /** Ends the sessions and sends the notices for authenticators whose processes ended before they did. */
    async tidy(now: number) {
      const left = { expires_at: UNFINISHED, confirmed_at: { atMost: now - SET_UP } }
      for (const { user_id: userId } of await records.find(left)) {
        const user = await kit.users.findUserById(String(userId))
        if (user === null) continue
        await kit.sessions.endAll(user)
        if (await finish(user.id)) await kit.factorChanged(user, 'factor-added', CODE)
      }
    },
  }
}
