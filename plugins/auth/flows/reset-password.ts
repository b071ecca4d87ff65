import { invalidResetToken } from '../errors.ts'
import type { StoredResetToken } from '../../../src/index.ts'
import { MOST_RESET_TOKENS } from './forgot-password.ts'
import { countAttempt, eventOrigin, type AuthParts, type Caller } from './parts.ts'
import { clearAfterNewPassword } from './sessions.ts'

/** What reset-password takes; the password is validated already, so that a weak one does not cost the token. */
export interface ResetPassword {
  readonly token: string
  readonly password: string
}

/**
 * Redeems a reset token: takes it, then hashes, then stores the password with the statement that ends every session.
 * In this order a token works once, only its taker makes the server hash, and no crash leaves an old session beside
 * the new password. The owner may log in at once, even if an attacker had used up the address's failures.
 * @throws Unauthorized `invalid_reset_token` for an unknown, used or expired token; LimitReached.
 */
export async function resetPassword(parts: AuthParts, input: ResetPassword, caller: Caller): Promise<void> {
  await countAttempt(parts, caller, 'reset', {})
  const token = await takeToken(parts, input.token)
  const passwordHash = token && (await hashOrGiveBack(parts, token, input.password))
  const change = token && {
    userId: token.userId,
    passwordHash: passwordHash!,
    keptSession: null,
    now: parts.clock.now(),
  }
  if (!token || !change || !(await parts.store.setPassword(change))) {
    parts.events.emit('auth.password.reset.failed', eventOrigin(caller))
    throw invalidResetToken()
  }
  await clearAfterNewPassword(parts, token.userId)
  const user = await parts.store.findUserById(token.userId)
  if (user) await parts.limits.success('login', { ip: caller.ip, email: user.email })
  parts.events.emit('auth.password.reset.succeeded', { ...eventOrigin(caller), userId: token.userId })
}

async function takeToken(parts: AuthParts, text: string): Promise<StoredResetToken | null> {
  const hash = parts.resetTokens.hash(text)
  if (hash === null) return null
  const token = await parts.store.findResetToken(hash, parts.clock.now())
  return token && (await parts.store.takeResetToken(hash, parts.clock.now())) ? token : null
}

/** When too many hashes wait, the caller is told to come again, and needs the token for that. */
async function hashOrGiveBack(parts: AuthParts, token: StoredResetToken, password: string): Promise<string> {
  try {
    return await parts.passwords.hash(password)
  } catch (error) {
    await parts.store.insertResetToken(token, MOST_RESET_TOKENS)
    throw error
  }
}
