import type { StoredUser } from '../../../src/index.ts'
import { sessionOver, wrongCurrentPassword } from '../errors.ts'
import { withEvent, type Known } from './outcome.ts'
import { countedWork, refuseWeak, type AuthParts, type Caller } from './parts.ts'
import { beginSession, clearAfterNewPassword, endAccessTokens, type Grant } from './sessions.ts'

/** What change-password takes, validated. */
export interface ChangePassword {
  readonly current: string
  readonly next: string
}

/** The session that asks, by its access token. */
export interface OwnSession {
  readonly userId: string
  readonly sessionId: string
}

/**
 * Replaces the password of a signed-in user. The statement that stores it ends every session, this one included, and
 * the caller goes on under a new session id (ASVS 7.2.4). So a copy of the old refresh token has no grace time. Of two
 * simultaneous changes one wins, because the other's current password is not valid any more.
 * @returns the new session.
 * @throws Unauthorized `invalid_credentials` for a wrong current password; PasswordRefused, LimitReached.
 */
export function changePassword(
  parts: AuthParts,
  input: ChangePassword,
  own: OwnSession,
  caller: Caller,
): Promise<Grant> {
  const { userId, sessionId } = own
  const counted = { user: userId }
  const known: Known = { userId, sessionId }
  return withEvent(parts, { flow: 'changePassword', caller, known }, () =>
    countedWork(parts, caller, { rule: 'changePassword', counted }, async () => {
      const user = await replacePassword(parts, input, userId)
      await parts.limits.success('changePassword', { ip: caller.ip, ...counted })
      await clearAfterNewPassword(parts, userId)
      const grant = await beginSession(parts, { ...user, passwordVersion: user.passwordVersion + 1 })
      // Another change or a reset has ended the new session within these milliseconds.
      if (grant === null) throw sessionOver()
      known.sessionId = grant.sessionId
      return grant
    }),
  )
}

/** @returns the user as it was before. */
async function replacePassword(
  parts: AuthParts,
  { current, next }: ChangePassword,
  userId: string,
): Promise<StoredUser> {
  const user = await parts.store.findUserById(userId)
  if (user === null) throw sessionOver()
  const { valid } = await parts.passwords.verify(user.passwordHash, current)
  if (!valid) throw wrongCurrentPassword()
  await refuseWeak(parts, 'next', next, user)
  const change = { userId, passwordHash: await parts.passwords.hash(next), keptSession: null }
  await endAccessTokens(parts, userId, user.passwordVersion)
  if (!(await parts.store.setPassword({ ...change, now: parts.clock.now(), version: user.passwordVersion })))
    throw wrongCurrentPassword()
  return user
}
