import { randomBytes } from 'node:crypto'
import { ignore } from 'mortar/kit'
import { NEVER, type Records } from '../../accounts/records.ts'
import { giveRowBack, takeRow } from '../../flows/lost-reply.ts'
import { hashToken, randomToken } from '../../tokens/opaque-token.ts'
import { base32 } from './one-time-code.ts'

const CODES = 10
/** 120 bits, so that a fast hash is enough (ASVS 6.5.2): 24 characters of base32. */
const CODE_BYTES = 15
/** 128 bits. */
const BATCH_BYTES = 16

/** Recovery codes of users. */
export type RecoveryCodes = ReturnType<typeof createRecoveryCodes>

/**
 * Creates the recovery codes of one application. A hash includes the batch, so one statement that changes the batch of
 * an authenticator makes all old codes worthless, and all new ones valid.
 */
export function createRecoveryCodes(records: Records) {
  /** Codes of a batch that is not active are worthless, so a failure concerns nobody. */
  const remove = async (userId: string, batch: string) => {
    await records.remove({ user_id: userId, batch }).catch(ignore)
  }
  return {
    /**
     * Stores ten codes of a new batch, and makes them valid by `activate`. Codes that nobody gets to see are deleted.
     * @returns null if `activate` returned false.
     */
    async issue(userId: string, now: number, activate: (batch: string) => Promise<boolean>) {
      const batch = randomToken(BATCH_BYTES)
      const codes = Array.from({ length: CODES }, () => grouped(base32(randomBytes(CODE_BYTES))))
      const common = { user_id: userId, batch, created_at: now, expires_at: NEVER }
      let isActive = false
      try {
        for (const code of codes) await records.insert({ code_hash: hashOf(batch, code), ...common })
        isActive = await activate(batch)
      } finally {
        if (!isActive) await remove(userId, batch)
      }
      return isActive ? { batch, codes } : null
    },
    /** Uses a code up by one statement. @returns a function that gives it back; null for a code that is unknown or used. */
    async use(batch: string, code: string) {
      const key = { code_hash: hashOf(batch, code) }
      const [row] = await records.find(key)
      if (row === undefined || !(await takeRow(records, key))) return null
      return () => giveRowBack(records, key, row)
    },
    left: async (userId: string, batch: string) => (await records.find({ user_id: userId, batch })).length,
    remove,
  }
}

/** Users may type lower case, and leave the hyphens out. */
function hashOf(batch: string, code: string): string {
  return hashToken('recovery-code', `${batch}\0${code.toUpperCase().replaceAll(/[^A-Z2-7]/g, '')}`)
}

function grouped(code: string): string {
  return code.match(/.{6}/g)!.join('-')
}
