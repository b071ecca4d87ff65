import type { Clock } from 'mortar'
import type { AuthStore, StoredUser } from '../accounts/auth-store.ts'
import type { RecordRow, Records } from '../accounts/records.ts'
import { giveRowBack, takeRow } from './lost-reply.ts'
import type { Challenge, ChallengePurpose, Challenges } from '../features/challenges/challenges.ts'
import { hashToken, randomToken } from '../tokens/opaque-token.ts'
import { createSingleUseTokens } from '../tokens/single-use-tokens.ts'
import type { Vault } from '../tokens/vault.ts'

/** Random bytes of a challenge that is not stored (ASVS 6.7.2). */
const OFFER = 32
/** The owner of such a challenge in the vault. */
const NOBODY = ''
/** Milliseconds by which the clocks of processes may differ. */
export const CLOCKS = 60_000

/** Table of the challenges, and the users that they belong to. */
export interface ChallengePlace {
  readonly records: Records
  readonly users: Pick<AuthStore, 'findUserById'>
  readonly clock: Clock
  /** Makes the challenges that are not stored. */
  readonly vault: Vault
}

/** Creates the single-use secrets of one application. */
export function createChallenges(place: ChallengePlace): Challenges {
  const { records, clock } = place
  const find = (purpose: ChallengePurpose, token: string) => findIn(place, purpose, token)
  return {
    async issue({ purpose, user, lifetime, data = null, tries = null, outlivesVersion }) {
      const { token, hash } = createSingleUseTokens(purpose).issue()
      const now = clock.now()
      await records.insert({
        token_hash: hash,
        user_id: user.id,
        purpose,
        data,
        password_version: outlivesVersion ? -1 - user.passwordVersion : user.passwordVersion,
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
    redeem: ({ row: { token_hash: hash = null } }) => takeRow(records, { token_hash: hash }, clock.now()),
    ...createOffers(place),
    restore: ({ row }) => giveRowBack(records, { token_hash: row['token_hash'] ?? null }, row),
    revoke: async (purpose, userId) => void (await records.remove({ user_id: userId, purpose })),
  }
}

/**
 * A row that outlives each change of the version, and the account, has a negative one. Null is that of an earlier release.
 */
function isValidFor({ password_version: version }: RecordRow, user: StoredUser): boolean {
  if (Number(version) < 0) return true
  return !user.isDisabled && (version === null || version === user.passwordVersion)
}

/** Challenges that are sealed and not stored. Their uses are stored. */
function createOffers({ records, clock, vault }: ChallengePlace): Pick<Challenges, 'offer' | 'spend'> {
  return {
    offer(purpose, lifetime) {
      const text = `${randomToken(OFFER)}.${clock.now() + lifetime * 1000}`
      const { keyId, sealed } = vault.seal(purpose, NOBODY, text)
      return Buffer.from(`${keyId}.${sealed}`).toString('base64url')
    },
    async spend(purpose, token, { id }) {
      const [keyId = '', sealed = ''] = Buffer.from(token, 'base64url').toString().split('.')
      const text = vault.open(purpose, NOBODY, { keyId, sealed })
      const expiresAt = Number(text?.split('.')[1])
      const now = clock.now()
      if (text === null || !(expiresAt > now)) return false
      return records.insert({
        token_hash: hashToken(`${purpose}/spent`, text),
        user_id: id,
        purpose,
        created_at: now,
        // Longer than the offer, because another process may have a clock that is behind.
        expires_at: expiresAt + CLOCKS,
      })
    },
  }
}

async function findIn(
  { records, users, clock }: ChallengePlace,
  purpose: ChallengePurpose,
  token: string,
): Promise<Challenge | null> {
  const hash = createSingleUseTokens(purpose).hash(token)
  if (hash === null) return null
  const [row] = await records.find({ token_hash: hash, expires_at: { above: clock.now() } })
  if (row === undefined) return null
  const user = await users.findUserById(String(row['user_id']))
  if (user === null || !isValidFor(row, user)) return null
  const { data } = row
  return { user, data: typeof data === 'string' ? data : null, row }
}
