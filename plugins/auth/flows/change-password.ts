import type { StoredUser } from '../accounts/auth-store.ts'
import { sessionOver, wrongCurrentPassword } from '../errors.ts'
import { withEvent, type Known } from './outcome.ts'
import { countedHashing, refuseWeak, type AuthParts, type Caller } from './parts.ts'
import { admit, tell } from './admit.ts'
import type { FactorCodes, Grant, OwnSession } from './proof.ts'
import { proveAgain } from './prove-again.ts'
import { clearAfterNewPassword, endAccessTokens } from './sessions.ts'
import { storePassword } from './store-password.ts'
import { refused } from '../refusals.ts'

/** Validated input of change-password. */
export interface ChangePassword extends FactorCodes {
  readonly current: string
  readonly next: string
}

/**
 * Replaces the password of a signed-in user. The statement that stores it ends every session, including the caller's,
 * and the caller continues under a new session id (ASVS 7.2.4), so a copy of the old refresh token has no grace time.
 * If two changes run concurrently, one wins: the other's current password is no longer valid.
 * @returns the new session.
 * @throws Unauthorized `invalid_credentials` for a wrong current password, `password_changed` if the new password is stored
 * and no session can begin; PasswordRefused, LimitReached.
 */
export async function changePassword(
  parts: AuthParts,
  input: ChangePassword,
  own: OwnSession,
  caller: Caller,
): Promise<Grant> {
  const { userId, sessionId } = own
  const counted = { user: userId }
  const known: Known = { userId, sessionId }
  const grant = await withEvent(parts, { flow: 'changePassword', caller, known }, () =>
    countedHashing(parts, caller, { rule: 'changePassword', counted }, async () => {
      const { user, methods } = await replacePassword(parts, input, { userId, caller })
      await clearAfterNewPassword(parts, userId)
      // The password is stored, so no failure from here on may ask for a repetition.
      const [next] = await Promise.allSettled([
        beginAgain(parts, { ...user, passwordVersion: user.passwordVersion + 1 }, { methods, caller }),
      ])
      await tell(parts, 'passwordChanged', (feature) => feature.passwordChanged?.(user, caller))
      await parts.limits.success('changePassword', { ip: caller.ip, ...counted })
      if (next.status === 'rejected') return refused('password_changed', { cause: next.reason })
      // Another change or a reset ended the new session within these milliseconds.
      if (next.value === null) throw sessionOver()
      known.sessionId = next.value.sessionId
      return next.value
    }),
  )
  if (grant instanceof Error) throw grant
  return grant
}

/** Tries twice, because the first attempt may have met a connection that was lost before. */
function beginAgain(
  parts: AuthParts,
  user: StoredUser,
  { methods, caller }: { readonly methods: readonly string[]; readonly caller: Caller },
): Promise<Grant | null> {
  const begin = () => admit(parts, { user, way: 'renewal', methods }, { caller })
  return begin().catch(begin)
}

/** @returns the user before the change, and the methods of the proof. */
async function replacePassword(
  parts: AuthParts,
  { current, next, ...codes }: ChangePassword,
  { userId, caller }: { readonly userId: string; readonly caller: Caller },
) {
  const user = await parts.store.findUserById(userId)
  // Another process may have disabled the account just now.
  if (user === null || user.isDisabled) throw sessionOver()
  const { valid } = await parts.passwords.verify(user.passwordHash, current)
  if (!valid) throw wrongCurrentPassword()
  await refuseWeak(parts, 'next', next, user)
  // Before the code is used up: a full hash queue refuses the request.
  const change = { userId, passwordHash: await parts.passwords.hash(next), keptSession: null }
  const methods = await proveAgain(parts, user, codes, caller)
  await endAccessTokens(parts, userId, user.passwordVersion)
  if (!(await storePassword(parts, { ...change, now: parts.clock.now(), version: user.passwordVersion })))
    throw wrongCurrentPassword()
  return { user, methods }
}
