import type { Clock } from 'mortar'
import type { AuthStore, StoredUser } from '../accounts/auth-store.ts'
import type { RecordRow, Records } from '../accounts/records.ts'
import type { Challenge, ChallengePurpose, Challenges } from '../features/challenges/challenges.ts'
import { createSingleUseTokens } from '../tokens/single-use-tokens.ts'

/** Table of the challenges, and the users that they belong to. */
export interface ChallengePlace {
  readonly records: Records
  readonly users: Pick<AuthStore, 'findUserById'>
  readonly clock: Clock
}

/** Creates the single-use secrets of one application. */
export function createChallenges({ records, users, clock }: ChallengePlace): Challenges {
  const find = async (purpose: ChallengePurpose, token: string): Promise<Challenge | null> => {
    const hash = createSingleUseTokens(purpose).hash(token)
    if (hash === null) return null
    const [row] = await records.find({ token_hash: hash, expires_at: { above: clock.now() } })
    if (row === undefined) return null
    const user = await users.findUserById(String(row['user_id']))
    if (user === null || user.isDisabled || !isOfVersion(row, user)) return null
    const { data } = row
    return { user, data: typeof data === 'string' ? data : null, row }
  }
  return {
    async issue({ purpose, user, lifetime, data = null, tries = null, outlivesVersion }) {
      const { token, hash } = createSingleUseTokens(purpose).issue()
      const now = clock.now()
      await records.insert({
        token_hash: hash,
        user_id: user.id,
        purpose,
        data,
        password_version: outlivesVersion ? null : user.passwordVersion,
        tries_left: tries,
        created_at: now,
        expires_at: now + lifetime * 1000,
      })
      return token
    },
    find,
    async attempt(purpose, token) {
      for (;;) {
        const challenge = await find(purpose, token)
        if (challenge === null) return null
        const { token_hash: hash = null, tries_left: left } = challenge.row
        if (typeof left !== 'number') return challenge
        if (left < 1) return null
        // The condition gives this try to one of several concurrent attempts; the others look again.
        const isCounted = await records.update(
          { token_hash: hash, tries_left: left },
          { tries_left: left - 1 },
        )
        if (isCounted === 1) return challenge
      }
    },
    async redeem({ row: { token_hash: hash = null } }) {
      return (await records.remove({ token_hash: hash, expires_at: { above: clock.now() } })) === 1
    },
    restore: async ({ row }) => void (await records.insert(row)),
    revoke: async (purpose, userId) => void (await records.remove({ user_id: userId, purpose })),
    tidy: async (now) => void (await records.remove({ expires_at: { atMost: now } })),
  }
}

/** A row without a version outlives each change of it. */
function isOfVersion({ password_version: version = null }: RecordRow, user: StoredUser): boolean {
  return version === null || version === user.passwordVersion
}
