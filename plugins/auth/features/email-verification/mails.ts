import type { StoredUser } from '../../accounts/auth-store.ts'
import { lifetimeText } from '../../flows/mail-message.ts'
import type { MailContent } from '../mails.ts'

/** A link for a mail. */
export interface MailedLink {
  readonly userId: string
  readonly to: string
  readonly link: string
  /** Seconds. */
  readonly lifetime: number
}

/** The mail with the link of an address of an account. */
export function verifyMail({ userId, to, link, lifetime }: MailedLink): MailContent {
  return {
    kind: 'verify-email',
    to,
    userId,
    subject: 'Confirm your address',
    why: 'Somebody, probably you, has signed up with this address.',
    action: { label: 'Confirm this address', link },
    otherwise: `The link works once, for ${lifetimeText(lifetime)}, and asks for the password. If it was not you, ignore this mail.`,
  }
}

/** The mail with the link of a new address. */
export function changeMail({ userId, to, link, lifetime }: MailedLink): MailContent {
  return {
    kind: 'change-email',
    to,
    userId,
    subject: 'Confirm your new address',
    why: 'Somebody, probably you, wants to use this address for an account.',
    action: { label: 'Use this address', link },
    otherwise: `The link works once, for ${lifetimeText(lifetime)}, and asks for the password. If it was not you, ignore this mail.`,
  }
}

/** The notice to the current address that somebody asks for another one. */
export function changeRequestedMail({ id: userId, email: to }: StoredUser): MailContent {
  return {
    kind: 'email-change-requested',
    to,
    userId,
    subject: 'Your account is about to get another address',
    why: 'Somebody, probably you, has asked to replace this address of your account. A link in a mail to the new address does it.',
    otherwise: 'If it was not you, change your password now: the link then does nothing.',
  }
}

/** The notice to an address that was replaced. */
export function changedMail({ id: userId, email: to }: StoredUser): MailContent {
  return {
    kind: 'email-changed',
    to,
    userId,
    subject: 'Your account has another address',
    why: 'Another address has replaced this one in your account. Every session of your account has ended.',
    otherwise: 'If it was not you, tell the people who run this application.',
  }
}

/** The mail to the owner of an address that somebody wanted to use for an account. */
export function accountExistsMail({ id: userId, email: to }: StoredUser): MailContent {
  return {
    kind: 'account-exists',
    to,
    userId,
    subject: 'You have an account already',
    why: 'Somebody, probably you, wanted to use this address for an account. It has one already.',
    otherwise:
      'Log in, or reset your password if you do not know it. If it was not you, ignore this mail: nothing has changed.',
  }
}
