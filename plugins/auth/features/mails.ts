import type { StoredUser } from '../accounts/auth-store.ts'
import type { MessageParts } from '../flows/mail-message.ts'
import type { Caller, FactorChange } from '../flows/proof.ts'

/** A mail of a feature. Its texts have no text of a user, so nothing in them needs escaping but `&` in links. */
export interface AccountMail {
  readonly kind: MailKind
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** The link, with its token, if the mail has one. */
  readonly link?: string
}

/** Kinds of mails of features. */
export type MailKind =
  | 'new-browser'
  | 'password-changed'
  | 'verify-email'
  | 'change-email'
  | 'email-change-requested'
  | 'email-changed'
  | 'account-exists'
  | 'invitation'
  | 'account-deletion'
  | FactorChange

/** The contents of a mail, before they become texts. */
export interface MailContent extends MailTexts {
  readonly to: string
  readonly userId: string
}

/** The contents of a mail that are the same for every user, unless they have a link. */
export interface MailTexts extends Omit<MessageParts, 'to'> {
  readonly kind: MailKind
}

/** Addresses a mail to the owner of an account. */
export function mailTo(
  { id: userId, email: to }: Pick<StoredUser, 'id' | 'email'>,
  texts: MailTexts,
): MailContent {
  return { to, userId, ...texts }
}

/** Mails that are sent after the response. */
export interface Outbox {
  /**
   * Sends a mail after the response, and again while it fails, until `until`. Each failure is the event
   * `auth.mail.failed`.
   */
  send(mail: MailContent, caller: Caller, until?: number): void
  /** Does this process's part of the work of `send`, and sends nothing. */
  rehearse(mail: MailContent): Promise<void>
  /** Runs work after the response, at a random delay. What it throws is logged. */
  later(work: () => Promise<void>): void
}
