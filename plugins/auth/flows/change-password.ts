import { Unauthorized } from '../../../src/index.ts'
import { wrongCurrentPassword } from '../errors.ts'
import { withEvent } from './outcome.ts'
import { countedWork, refuseWeak, type AuthParts, type Caller } from './parts.ts'
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
 * @throws Unauthorized `invalid_credentials` for a wrong current password; PasswordRefused, LimitReached.
 */
export function changePassword(
  parts: AuthParts,
  input: ChangePassword,
  own: OwnSession,
  caller: Caller,
): Promise<Grant | null> {
  const { userId, sessionId, refreshToken } = own
  const counted = { user: userId }
  return withEvent(parts, { flow: 'changePassword', caller, known: { userId, sessionId } }, () =>
    countedWork(parts, caller, { rule: 'changePassword', counted }, async () => {
      await replacePassword(parts, input, own)
      await parts.limits.success('changePassword', { ip: caller.ip, ...counted })
      await clearAfterNewPassword(parts, userId)
      return rotateOwn(parts, refreshToken, sessionId)
    }),
  )
}

async function replacePassword(
  parts: AuthParts,
  { current, next }: ChangePassword,
  { userId, sessionId }: OwnSession,
): Promise<void> {
  const user = await parts.store.findUserById(userId)
  if (user === null) throw new Unauthorized('The account does not exist any more.', { code: 'invalid_token' })
  const { valid } = await parts.passwords.verify(user.passwordHash, current)
  if (!valid) throw wrongCurrentPassword()
  await refuseWeak(parts, 'next', next, user)
  const change = { userId, passwordHash: await parts.passwords.hash(next), keptSession: sessionId }
  if (!(await parts.store.setPassword({ ...change, now: parts.clock.now(), version: user.passwordVersion })))
    throw wrongCurrentPassword()
}
