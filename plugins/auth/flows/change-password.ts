import type { StoredUser } from '../accounts/auth-store.ts'
import { sessionOver, wrongCurrentPassword } from '../errors.ts'
import { withEvent, type Known } from './outcome.ts'
import { countedWork, refuseWeak, type AuthParts, type Caller } from './parts.ts'
import { beginSession, clearAfterNewPassword, endAccessTokens, type Grant } from './sessions.ts'

/** Validated input of change-password. */
export interface ChangePassword {
  readonly current: string
  readonly next: string
}

/** The caller's session, from its access token. */
export interface OwnSession {
  readonly userId: string
  readonly sessionId: string
}

/**
 * Replaces the password of a signed-in user. The statement that stores it ends every session, including the caller's,
 * and the caller continues under a new session id (ASVS 7.2.4), so a copy of the old refresh token has no grace time.
 * If two changes run concurrently, one wins: the other's current password is no longer valid.
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
      // Another change or a reset ended the new session within these milliseconds.
      if (grant === null) throw sessionOver()
      known.sessionId = grant.sessionId
      return grant
    }),
  )
}

/** @returns the user before the change. */
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
