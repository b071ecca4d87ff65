import { describeFailure, invalidCredentials } from '../errors.ts'
import type { StoredUser } from '../../../src/index.ts'
import { countAttempt, eventOrigin, type AuthParts, type Caller } from './parts.ts'
import { beginSession, endSessionOf, type Grant } from './sessions.ts'

/** What login takes, validated; `email` in canonical form. */
export interface LogIn {
  readonly email: string
  readonly password: string
}

/**
 * Signs a user in. An address without an account takes the same road and the same hash computation as one with a wrong
 * password. The session that the browser had before ends (ASVS 7.2.4).
 * @throws Unauthorized `invalid_credentials`, LimitReached.
 */
export async function logIn(
  parts: AuthParts,
  input: LogIn,
  caller: Caller,
  presented: string | null,
): Promise<Grant> {
  const { email, password } = input
  // Before anything is counted or read: refusals of a flood must not take the time of the logins that get in.
  parts.passwords.refuseWhenFull()
  await countAttempt(parts, caller, 'login', { email })
  const user = await parts.store.findUserByEmail(email)
  const { valid, rehash } = await parts.passwords.verify(user?.passwordHash ?? null, password)
  const grant = user !== null && valid ? await beginSession(parts, user) : null
  if (user === null || grant === null) {
    reportFailure(parts, user, email, caller)
    throw invalidCredentials()
  }
  await parts.limits.success('login', { ip: caller.ip, email })
  if (rehash) await renewHash(parts, user, password)
  await endSessionOf(parts, presented)
  parts.events.emit('auth.login.succeeded', {
    ...eventOrigin(caller),
    userId: user.id,
    sessionId: grant.sessionId,
  })
  return grant
}

function reportFailure(parts: AuthParts, user: StoredUser | null, email: string, caller: Caller): void {
  const origin = eventOrigin(caller)
  parts.events.emit('auth.login.failed', { ...origin, email, ...(user && { userId: user.id }) })
  if (user?.passwordHash && !parts.passwords.isUsable(user.passwordHash))
    parts.events.emit('auth.password.unusable', { ...origin, userId: user.id })
}

/** The hash is replaced only if it still is the one that was verified; a new password is never overwritten. */
async function renewHash(parts: AuthParts, user: StoredUser, password: string): Promise<void> {
  try {
    await parts.store.rehashPassword(user.id, user.passwordHash!, await parts.passwords.hash(password))
  } catch (error) {
    // The login is good without it, and the next one tries again.
    parts.logger.warn(
      { userId: user.id, reason: describeFailure(error) },
      'A password hash could not be renewed',
    )
  }
}
