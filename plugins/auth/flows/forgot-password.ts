import { randomUUID } from 'node:crypto'
import { describeFailure } from '../errors.ts'
import type { StoredUser } from '../../../src/index.ts'
import { createBackground, type Background } from './background.ts'
import { withEvent, type Known } from './outcome.ts'
import { countAttempt, eventOrigin, type AuthParts, type Caller } from './parts.ts'

/** What forgot-password takes, validated; `email` in canonical form. */
export interface ForgotPasswordInput {
  readonly email: string
  /** Value of the device cookie, if the browser sent one. */
  readonly device?: string | null
}

/** Takes a request for a reset mail. Resolves before the mail is begun, the same for every address; LimitReached. */
export interface ForgotPassword {
  (input: ForgotPasswordInput, caller: Caller): Promise<void>
  /** Resolves when every mail that was begun has left or failed; those that wait leave now. */
  settled(): Promise<void>
}

/**
 * Makes the flow. The response follows one look-up, which costs the same for every address. Token, statements and mail
 * come later, at a moment that nobody can predict, and an address without an account causes the same work: neither
 * the response nor the requests after it tell whether the account exists (ASVS 6.3.8).
 */
export function createForgotPassword(parts: AuthParts): ForgotPassword {
  const background: Background = createBackground(parts.mailDelay)

  const request = ({ email, device = null }: ForgotPasswordInput, caller: Caller): Promise<void> => {
    const known: Known = { email }
    return withEvent(parts, { flow: 'forgot', caller, known }, async () => {
      const counted = { email, device: parts.devices.verify(device, email) }
      await countAttempt(parts, caller, 'forgot', counted)
      const user = await parts.store.findUserByEmail(email)
      if (user) known.userId = user.id
      background.run(() => (user ? sendToken(parts, user, caller) : pretend(parts, email)))
    })
  }
  return Object.assign(request, { settled: () => background.settled() })
}

async function sendToken(parts: AuthParts, user: StoredUser, caller: Caller): Promise<void> {
  const { token, stored } = issue(parts, user.id, parts.lifetimes.resetToken)
  try {
    await parts.store.insertResetToken(stored, parts.mostResetTokens)
    await parts.resetMail.send(user.email, token)
  } catch (error) {
    parts.events.emit('auth.password.reset.mail.failed', {
      ...eventOrigin(caller),
      userId: user.id,
      error: describeFailure(error, token),
    })
  }
}

/** The work of `sendToken` for an address without an account. Its token expires as it is stored, and has no owner. */
async function pretend(parts: AuthParts, email: string): Promise<void> {
  const { token, stored } = issue(parts, randomUUID(), 0)
  // A failure here would be one there too, where it is reported.
  await parts.store.insertResetToken(stored, parts.mostResetTokens).catch(() => undefined)
  await parts.resetMail.rehearse(email, token).catch(() => undefined)
}

function issue(parts: AuthParts, userId: string, lifetime: number) {
  const { token, hash: tokenHash } = parts.resetTokens.issue()
  const createdAt = parts.clock.now()
  return { token, stored: { tokenHash, userId, createdAt, expiresAt: createdAt + lifetime * 1000 } }
}
