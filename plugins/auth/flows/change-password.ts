import { Unauthorized } from '../../../src/index.ts'
import { wrongCurrentPassword } from '../errors.ts'
import { countAttempt, eventOrigin, type AuthParts, type Caller } from './parts.ts'
import { rotateOwn } from './refresh.ts'
import { clearAfterNewPassword, type Grant } from './sessions.ts'

/** What change-password takes, validated. */
export interface ChangePassword {
  readonly current: string
  readonly next: string
}

/** The session that asks: what its access token says, and its refresh token if one was sent along. */
export interface OwnSession {
  readonly userId: string
  readonly sessionId: string
  readonly refreshToken: string | null
}

/**
 * Replaces the password of a signed-in user. The statement that stores it ends every other session and keeps this one;
 * of two changes at once one wins, because the other's current password is none any more.
 * @returns the next refresh token of this session, or null when none was presented.
 * @throws Unauthorized `invalid_credentials` for a wrong current password; LimitReached.
 */
export async function changePassword(
  parts: AuthParts,
  { current, next }: ChangePassword,
  own: OwnSession,
  caller: Caller,
): Promise<Grant | null> {
  const { userId, sessionId } = own
  const about = { ...eventOrigin(caller), userId, sessionId }
  await countAttempt(parts, caller, 'changePassword', { user: userId })
  const user = await parts.store.findUserById(userId)
  if (user === null) throw new Unauthorized('The account does not exist any more.', { code: 'invalid_token' })
  const { valid } = await parts.passwords.verify(user.passwordHash, current)
  const changed =
    valid &&
    (await parts.store.setPassword({
      userId,
      passwordHash: await parts.passwords.hash(next),
      keptSession: sessionId,
      now: parts.clock.now(),
      version: user.passwordVersion,
    }))
  if (!changed) {
    parts.events.emit('auth.password.change.failed', about)
    throw wrongCurrentPassword()
  }
  await parts.limits.success('changePassword', { ip: caller.ip, user: userId })
  await clearAfterNewPassword(parts, userId)
  const grant = await rotateOwn(parts, own.refreshToken, sessionId)
  parts.events.emit('auth.password.changed', about)
  return grant
}
