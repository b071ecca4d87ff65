import type { User } from 'mortar'
import { ignore } from 'mortar/kit'
import { userOf } from '../accounts/signed-in-user.ts'
import { mailTo, type MailTexts } from '../features/mails.ts'
import { invitedBody } from '../routes/shapes.ts'
import { canonicalAccount, insertHashed } from './create-user.ts'
import { deleteUser } from './delete-user.ts'
import { issue } from './forgot-password.ts'
import { lifetimeText } from './mail-message.ts'
import { CODE, type AuthParts } from './parts.ts'
import type { NewAccount } from './proof.ts'

/** Somebody who gets an account, without a password. */
export type Invitation = Omit<NewAccount, 'password'>

/** Seconds for which the link of an invitation is valid. */
const LIFETIME = 7 * 86_400

/**
 * Creates an account without a password for code of the application, and mails a link with which its owner sets one. The
 * link is a reset link, so using it also proves the address. If the link cannot be stored, the account is deleted.
 * @throws ValidationFailed with the issues of signup, Conflict `email_taken`.
 */
export async function invite(parts: AuthParts, input: Invitation): Promise<User> {
  const canonical = await canonicalAccount(invitedBody, input)
  // Before the account is stored, because there may be no address for a link.
  const { token, stored } = issue(parts, { id: '', passwordVersion: 0 }, LIFETIME)
  const link = parts.resetMail.linkOf(token)
  const user = await insertHashed(parts, canonical, null)
  await parts.store
    .insertResetToken({ ...stored, userId: user.id }, parts.mostResetTokens)
    .catch(async (error: unknown) => {
      // Without the account the invitation can be repeated.
      await deleteUser(parts, user.id).catch(ignore)
      throw error
    })
  parts.mails.send(mailTo(user, invitationMail(link)), CODE, stored.expiresAt)
  return userOf({ sub: user.id, user: user.raw })
}

function invitationMail(link: string): MailTexts {
  return {
    kind: 'invitation',
    subject: 'You have an account',
    why: 'Somebody has created an account for you.',
    action: { label: 'Set your password', link },
    otherwise: `The link works once, for ${lifetimeText(LIFETIME)}. After that, ask for a new password to get another one.`,
  }
}
