import { randomUUID } from 'node:crypto'
import type { StoredSession, StoredUser } from '../../../src/index.ts'
import type { AuthParts } from './parts.ts'

/** What somebody who signed in, or refreshed, is given. */
export interface Grant {
  readonly sessionId: string
  readonly user: StoredUser
  readonly accessToken: string
  /** Seconds until the access token expires. */
  readonly expiresIn: number
  readonly refreshToken: string
  /** Seconds until the session ends. */
  readonly refreshAge: number
}

/**
 * Begins a session for a user whose password was verified.
 * @returns null when the password was changed in the meantime: then what was verified is no longer the password.
 */
export async function beginSession(parts: AuthParts, user: StoredUser): Promise<Grant | null> {
  const { token, hash, familyHash } = parts.refreshTokens.issue()
  const now = parts.clock.now()
  const session: StoredSession = {
    id: randomUUID(),
    userId: user.id,
    passwordVersion: user.passwordVersion,
    familyHash,
    tokenHash: hash,
    previousHash: null,
    createdAt: now,
    rotatedAt: now,
    expiresAt: now + parts.lifetimes.session * 1000,
  }
  return (await parts.store.insertSession(session)) ? grantFor(parts, user, session, token) : null
}

/** @returns a new access token of a session, beside its present refresh token. */
export function grantFor(
  parts: AuthParts,
  user: StoredUser,
  session: StoredSession,
  refreshToken: string,
): Grant {
  const { token, expiresIn } = parts.accessTokens.sign({ sub: user.id, sid: session.id, user: user.raw })
  const refreshAge = Math.max(0, Math.ceil((session.expiresAt - parts.clock.now()) / 1000))
  return { sessionId: session.id, user, accessToken: token, expiresIn, refreshToken, refreshAge }
}

/** Whether a session lives: it has not expired, and no new password has ended it. */
export function isAlive(
  parts: AuthParts,
  session: StoredSession,
  user: StoredUser | null,
): user is StoredUser {
  if (user === null || session.expiresAt <= parts.clock.now()) return false
  return user.passwordVersion === session.passwordVersion || user.keptSession === session.id
}

/** Ends a session: its access tokens stop at once in this process, its refresh token everywhere. */
export async function endSession(parts: AuthParts, id: string): Promise<void> {
  parts.endedSessions.end(id)
  await parts.store.deleteSession(id)
}

/** Ends the session that a refresh token of any generation belongs to. @returns the session, or null. */
export async function endSessionOf(
  parts: AuthParts,
  refreshToken: string | null,
): Promise<StoredSession | null> {
  const hashes = parts.refreshTokens.hashes(refreshToken)
  const session = hashes && (await parts.store.findSession(hashes.familyHash))
  if (session) await endSession(parts, session.id)
  return session
}

/**
 * Ends every session of a user, the ones included whose login is under way: the password stays what it is and its
 * version rises. When the password is changed at this moment, that change keeps no session alive either.
 */
export async function endEverySession(parts: AuthParts, userId: string): Promise<void> {
  for (;;) {
    const user = await parts.store.findUserById(userId)
    if (user === null) break
    const { passwordHash, passwordVersion: version } = user
    const again = { userId, passwordHash, keptSession: null, now: parts.clock.now(), version }
    if (await parts.store.setPassword(again)) break
  }
  await clearEndedSessions(parts, userId)
}

/** Clears away what a new password has ended: sessions of earlier versions, and reset tokens that are still out. */
export async function clearAfterNewPassword(parts: AuthParts, userId: string): Promise<void> {
  await clearEndedSessions(parts, userId)
  await parts.store.deleteResetTokens(userId)
}

async function clearEndedSessions(parts: AuthParts, userId: string): Promise<void> {
  for (const id of await parts.store.deleteEndedSessions(userId)) parts.endedSessions.end(id)
}
