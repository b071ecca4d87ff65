/*
 * Rotation without lost sessions. A refresh token that is the present one is exchanged for its successor by one
 * conditional update; whoever loses that race, or lost the answer, holds the immediate predecessor and is given the
 * same successor again while the grace time runs. A token of any older generation was copied: the session ends.
 * During the roll-out of a new secret a process may meet the predecessor of a token that another one made with a
 * secret it does not know: it cannot make that token again, and asks to come back.
 * Held by test/plugins/auth/refresh.test.ts and roll-out.test.ts.
 */
import { invalidSession, TokenReused, unknownSecret } from '../errors.ts'
import type { RefreshTokenHashes } from '../refresh-tokens.ts'
import type { StoredSession } from '../../../src/index.ts'
import { withEvent, type Known } from './outcome.ts'
import { countAttempt, type AuthParts, type Caller } from './parts.ts'
import { endSession, grantFor, isAlive, type Grant } from './sessions.ts'

/**
 * Exchanges a refresh token.
 * @throws Unauthorized `invalid_session` when it proves no session; LimitReached; ServiceUnavailable when only a
 * process with a newer secret could answer.
 */
export type Refresh = (presented: string | null, caller: Caller) => Promise<Grant>

/**
 * Makes the refresh flow. Requests of one process that present the same token at the same time share one exchange, so
 * that several tabs count as one against the limit.
 */
export function createRefresh(parts: AuthParts): Refresh {
  const running = new Map<string, Promise<Grant>>()

  const exchangeOnce: Refresh = async (presented, caller) => {
    const hashes = parts.refreshTokens.hashes(presented)
    if (presented === null || hashes === null) throw invalidSession()
    const known = running.get(hashes.hash)
    if (known) return shared(parts, await known, hashes)
    const begun = rotate(parts, presented, hashes, caller).finally(() => running.delete(hashes.hash))
    running.set(hashes.hash, begun)
    return begun
  }
  return (presented, caller) => {
    const known: Known = {}
    return withEvent(parts, { flow: 'refresh', caller, known }, async () => {
      const grant = await exchangeOnce(presented, caller)
      Object.assign(known, { userId: grant.user.id, sessionId: grant.sessionId })
      return grant
    })
  }
}

/** An exchange that began earlier may have missed the end of the session by another process. */
async function shared(parts: AuthParts, grant: Grant, { familyHash }: RefreshTokenHashes): Promise<Grant> {
  const session = await parts.store.findSession(familyHash)
  const user = session && (await parts.store.findUserById(session.userId))
  if (session && isAlive(parts, session, user)) return grant
  throw invalidSession()
}

/**
 * Rotates the session of change-password, outside the limit of refreshes.
 * @returns null when the token is not that session's.
 */
export async function rotateOwn(
  parts: AuthParts,
  presented: string | null,
  sessionId: string,
): Promise<Grant | null> {
  const hashes = parts.refreshTokens.hashes(presented)
  if (presented === null || hashes === null) return null
  const session = await parts.store.findSession(hashes.familyHash)
  if (session?.id !== sessionId) return null
  const step = await exchange(parts, session, presented, hashes)
  return typeof step === 'object' ? step : null
}

async function rotate(
  parts: AuthParts,
  presented: string,
  hashes: RefreshTokenHashes,
  caller: Caller,
): Promise<Grant> {
  const session = await parts.store.findSession(hashes.familyHash)
  if (session === null) throw invalidSession()
  // A repeated exchange of the predecessor changes nothing and is free; only a step forward counts.
  if (session.tokenHash === hashes.hash) await countAttempt(parts, caller, 'refresh', { session: session.id })
  const step = await exchange(parts, session, presented, hashes)
  if (step === 'over') throw invalidSession()
  if (step === 'stolen') throw new TokenReused({ userId: session.userId, sessionId: session.id })
  if (step === 'unknown') throw secretMissing(parts)
  return step
}

async function exchange(
  parts: AuthParts,
  session: StoredSession,
  presented: string,
  hashes: RefreshTokenHashes,
): Promise<Grant | 'over' | 'stolen' | 'unknown'> {
  const user = await parts.store.findUserById(session.userId)
  if (!isAlive(parts, session, user)) return end(parts, session, 'over')
  if (session.tokenHash === hashes.hash) {
    const next = parts.refreshTokens.successor(presented, session)
    const rotation = { id: session.id, from: hashes.hash, to: next.hash, now: parts.clock.now() }
    if (await parts.store.rotateSession(rotation)) return grantFor(parts, user, session, next.token)
    // Somebody else was first: the session is gone, or the presented token is its predecessor now.
    const moved = await parts.store.findSession(hashes.familyHash)
    return moved ? exchange(parts, moved, presented, hashes) : end(parts, session, 'over')
  }
  if (!inGrace(parts, session, hashes)) return end(parts, session, 'stolen')
  const present = parts.refreshTokens.recover(presented, session)
  return present ? grantFor(parts, user, session, present.token) : 'unknown'
}

function inGrace(parts: AuthParts, session: StoredSession, { hash }: RefreshTokenHashes): boolean {
  // Either way, so that a clock that was set back does not lengthen the grace time.
  const age = Math.abs(parts.clock.now() - session.rotatedAt)
  return session.previousHash === hash && age <= parts.lifetimes.grace * 1000
}

async function end<Outcome>(parts: AuthParts, session: StoredSession, outcome: Outcome): Promise<Outcome> {
  await endSession(parts, session.id)
  return outcome
}

function secretMissing(parts: AuthParts): Error {
  parts.logger.warn(
    'A refresh token was made with a secret that this process does not know. ' +
      'Give a new secret to every process as the second of the list before it becomes the first.',
  )
  return unknownSecret()
}
