import { randomUUID } from 'node:crypto'
import type { StoredSession } from '../accounts/auth-store.ts'
import { despiteLostReply } from './lost-reply.ts'
import type { AuthParts } from './parts.ts'
import type { Caller, FeaturePoints, Grant, Proof } from './proof.ts'
import { endSession, endSessionOf, grantFor, METHODS, orForget } from './sessions.ts'

/** The request that asks for a session. */
export interface SessionRequest {
  readonly caller: Caller
  /** Refresh token of the browser's previous session, which ends (ASVS 7.2.4). */
  readonly presented?: string | null
}

/**
 * The only way to a session (ASVS 6.1.3): no other code inserts one, which test/architecture/begin-session.test.ts checks. At a
 * login and a signup each feature may ask for more first. Beyond `maxSessions` the user's oldest session ends.
 * @returns null for a disabled account, and if the password was changed since it was verified.
 * @throws HttpError of a feature that asks for more.
 */
export async function admit(parts: AuthParts, proof: Proof, request?: SessionRequest): Promise<Grant | null> {
  // A disabled account is refused like a wrong password, so no feature asks it for more.
  if (proof.user.isDisabled) return null
  const isNew = proof.way === 'login' || proof.way === 'signup'
  if (isNew && request) for (const feature of parts.features) await feature.demand?.(proof, request.caller)
  const id = randomUUID()
  const grant = await orForget(parts, id, async () => {
    const begun = await begin(parts, proof, id)
    if (begun === null) return null
    await endSessionOf(parts, request?.presented ?? null)
    // After the session that this one replaces: a renewal ends its own, so the number of sessions does not grow.
    if (proof.way !== 'renewal') await endOldest(parts, proof.user.id, id)
    return begun
  })
  if (grant === null || request === undefined) return grant
  await tell(parts, 'admitted', (feature) => feature.admitted?.(grant, proof, request.caller))
  return grant
}

/** Calls a point of every feature that only takes note: what it throws is logged and changes nothing. */
export async function tell(
  parts: Pick<AuthParts, 'features' | 'outages'>,
  point: keyof FeaturePoints,
  call: (feature: FeaturePoints) => unknown,
): Promise<void> {
  for (const feature of parts.features)
    try {
      await call(feature)
    } catch (error) {
      const message = 'A feature of the auth brick has failed'
      parts.outages.log({ part: `auth feature ${point}`, error, message, fields: { point } })
    }
}

async function begin(
  parts: AuthParts,
  { user, methods = METHODS }: Proof,
  id: string,
): Promise<Grant | null> {
  const { token, hash, familyHash } = parts.refreshTokens.issue()
  const now = parts.clock.now()
  const session: StoredSession = {
    id,
    userId: user.id,
    passwordVersion: user.passwordVersion,
    familyHash,
    tokenHash: hash,
    previousHash: null,
    createdAt: now,
    rotatedAt: parts.rotations.roughly(),
    expiresAt: now + parts.lifetimes.session * 1000,
  }
  const isBegun = await despiteLostReply(
    () => parts.store.insertSession(session),
    async () => (await parts.store.findSession(familyHash)) !== null,
  )
  return isBegun ? grantFor(parts, user, { ...session, methods }, token) : null
}

async function endOldest(parts: AuthParts, userId: string, newest: string): Promise<void> {
  if (parts.maxSessions === undefined) return
  const sessions = await parts.store.findSessions(userId)
  const { createdAt = 0 } = sessions.find(({ id }) => id === newest) ?? {}
  // A session in the future began earlier, in a process whose clock is ahead.
  const begun = (each: StoredSession) => (each.createdAt > parts.clock.now() ? createdAt - 1 : each.createdAt)
  const inOrder = sessions.toSorted((a, b) => begun(b) - begun(a))
  for (const { id } of inOrder.slice(parts.maxSessions)) await endSession(parts, id)
}
