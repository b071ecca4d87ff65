import { describeFailure } from '../errors.ts'
import type { StoredUser } from '../../../src/index.ts'
import { countAttempt, eventOrigin, type AuthParts, type Caller } from './parts.ts'

/** Reset tokens of one user that are valid at the same time. */
export const MOST_RESET_TOKENS = 3

/** Takes a request for a reset mail. Resolves before the mail is begun, the same for every address; LimitReached. */
export interface ForgotPassword {
  (email: string, caller: Caller): Promise<void>
  /** Resolves when every mail that was begun has left or failed. */
  settled(): Promise<void>
}

/**
 * Makes the flow. The answer is given after one look-up, which costs the same for every address; token, mail and their
 * failures come after it and show nowhere in it.
 */
export function createForgotPassword(parts: AuthParts): ForgotPassword {
  const running = new Set<Promise<void>>()

  const request = async (email: string, caller: Caller): Promise<void> => {
    await countAttempt(parts, caller, 'forgot', { email })
    const user = await parts.store.findUserByEmail(email)
    parts.events.emit('auth.password.reset.requested', {
      ...eventOrigin(caller),
      email,
      ...(user && { userId: user.id }),
    })
    if (user === null) return
    const mail = afterAnswer(() => sendToken(parts, user, caller)).finally(() => running.delete(mail))
    running.add(mail)
  }
  const settled = async (): Promise<void> => void (await Promise.all(running))
  return Object.assign(request, { settled })
}

/** Not before the answer was written: a synchronous database would hold it up for addresses with an account. */
function afterAnswer(work: () => Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => resolve(work()))
  })
}

async function sendToken(parts: AuthParts, user: StoredUser, caller: Caller): Promise<void> {
  const { token, hash } = parts.resetTokens.issue()
  const createdAt = parts.clock.now()
  const expiresAt = createdAt + parts.lifetimes.resetToken * 1000
  try {
    await parts.store.insertResetToken(
      { tokenHash: hash, userId: user.id, createdAt, expiresAt },
      MOST_RESET_TOKENS,
    )
    await parts.sendResetMail(user.email, token)
  } catch (error) {
    const reason = describeFailure(error, token)
    parts.logger.error({ userId: user.id, reason }, 'The mail with a reset link could not be sent')
    parts.events.emit('auth.password.reset.mail.failed', {
      ...eventOrigin(caller),
      userId: user.id,
      error: reason,
    })
  }
}
