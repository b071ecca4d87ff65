import { ignore } from 'mortar/kit'
import type { StoredResetToken, StoredUser } from '../accounts/auth-store.ts'
import { hasProvenEmail } from '../accounts/proven-email.ts'
import { tell } from './admit.ts'
import { forgetAdded } from './delete-user.ts'
import { withEvent, type Known } from './outcome.ts'
import { countedHashing, refuseWeak, type AuthParts, type Caller } from './parts.ts'
import { clearAfterNewPassword, endAccessTokens } from './sessions.ts'
import { storePassword } from './store-password.ts'
import { refused } from '../refusals.ts'

/** Input of reset-password. The password is already validated, so that a weak one does not consume the token. */
export interface ResetPassword {
  readonly token: string
  readonly password: string
}

/**
 * Redeems a reset token: consumes it, hashes the password, and stores it with the statement that ends every session.
 * That statement also verifies the address, and applies only to the password version of the token. In this order a
 * token works once, only its redeemer makes the server hash, and no crash leaves an old session beside the new
 * password. A weak password is refused first and does not consume the token. The owner may log in immediately, even if
 * an attacker had used up the address's failures.
 * @throws Unauthorized `invalid_reset_token` for an unknown, used or expired token; PasswordRefused, LimitReached.
 */
export function resetPassword(parts: AuthParts, input: ResetPassword, caller: Caller): Promise<void> {
  const known: Known = {}
  return withEvent(parts, { flow: 'reset', caller, known }, () =>
    countedHashing(parts, caller, { rule: 'reset', counted: {} }, async () => {
      const user = await redeem(parts, input, known)
      await clearAfterNewPassword(parts, user.id)
      // Again, because a request may have added something before its session ended.
      await tell(parts, 'forget', (feature) => (hasProvenEmail(user) ? undefined : feature.forget?.(user)))
      await tell(parts, 'passwordChanged', (feature) => feature.passwordChanged?.(user, caller))
      await parts.limits.success('login', { ip: caller.ip, email: user.email })
    }),
  )
}

async function redeem(parts: AuthParts, input: ResetPassword, known: Known): Promise<StoredUser> {
  const now = (): number => parts.clock.now()
  const hash = parts.resetTokens.hash(input.token)
  const token = hash && (await parts.store.findResetToken(hash, now()))
  const user = token && (await parts.store.findUserById(token.userId))
  if (!token || !user || !isRedeemable(token, user)) throw refused('invalid_reset_token')
  known.userId = user.id
  await refuseWeak(parts, 'password', input.password, user)
  const isStored = await orGiveBack(parts, token, async () => {
    if (!(await parts.store.takeResetToken(token.tokenHash, now()))) return false
    const passwordHash = await parts.passwords.hash(input.password)
    // Whoever has registered the address of somebody else must neither stay in the account nor lock its owner out.
    if (!hasProvenEmail(user)) await forgetAdded(parts, user)
    await endAccessTokens(parts, user.id, user.passwordVersion)
    return storePassword(parts, {
      userId: user.id,
      passwordHash,
      keptSession: null,
      now: now(),
      version: user.passwordVersion,
      // The token proves ownership of the mailbox.
      ...(!hasProvenEmail(user) && { emailVerifiedAt: now() }),
    })
  })
  if (!isStored) throw refused('invalid_reset_token')
  return user
}

/** A token is valid only for the password version of its issue, even if deleting it failed. */
function isRedeemable({ passwordVersion }: StoredResetToken, user: StoredUser): boolean {
  return !user.isDisabled && (passwordVersion === null || passwordVersion === user.passwordVersion)
}

/**
 * Restores the token when the hash queue is full or the store fails, also if the reply of the statement that took it is lost,
 * since the client is asked to try again. If the password
 * is stored nevertheless, its version makes the token worthless.
 */
async function orGiveBack<T>(parts: AuthParts, token: StoredResetToken, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await parts.store.insertResetToken(token, parts.mostResetTokens).catch(ignore)
    throw error
  }
}
