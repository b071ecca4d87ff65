import { lifetimeText } from '../../flows/mail-message.ts'
import type { MailContent, MailTexts } from '../mails.ts'

/** Purpose of the link of a mail. */
export type LinkPurpose = keyof typeof LINKS

const LINKS = {
  'verify-email': {
    subject: 'Confirm your address',
    why: 'Somebody, probably you, has signed up with this address.',
    label: 'Confirm this address',
  },
  'change-email': {
    subject: 'Confirm your new address',
    why: 'Somebody, probably you, wants to use this address for an account.',
    label: 'Use this address',
  },
} as const

/** A link for a mail. */
export interface MailedLink {
  readonly userId: string
  readonly to: string
  readonly link: string
  /** Seconds. */
  readonly lifetime: number
}

/** The mail with the link of an address of an account, or of a new address. */
export function linkMail(kind: LinkPurpose, { userId, to, link, lifetime }: MailedLink): MailContent {
  const { label, ...texts } = LINKS[kind]
  const otherwise = `The link works once, for ${lifetimeText(lifetime)}, and asks for the password. If it was not you, ignore this mail.`
  return { kind, to, userId, ...texts, action: { label, link }, otherwise }
}

/** The notice to the current address that somebody asks for another one. */
export const CHANGE_REQUESTED: MailTexts = {
  kind: 'email-change-requested',
  subject: 'Your account is about to get another address',
  why: 'Somebody, probably you, has asked to replace this address of your account. A link in a mail to the new address does it.',
  otherwise: 'If it was not you, change your password now: the link then does nothing.',
}

/** The notice to an address that was replaced. */
export const CHANGED: MailTexts = {
  kind: 'email-changed',
  subject: 'Your account has another address',
  why: 'Another address has replaced this one in your account. Every session of your account has ended.',
  otherwise:
    'If it was not you, use the link of this mail: it gives your account this address again. Without a link, tell the people who run this application.',
}

/** The mail to the owner of an address that somebody wanted to use for an account. */
export const ACCOUNT_EXISTS: MailTexts = {
  kind: 'account-exists',
  subject: 'You have an account already',
  why: 'Somebody, probably you, wanted to use this address for an account. It has one already.',
  otherwise:
    'Log in, or reset your password if you do not know it. If it was not you, ignore this mail: nothing has changed.',
}
