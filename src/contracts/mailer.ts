/** An outgoing message. At least one of `text` and `html`. */
export interface MailMessage {
  readonly to: string | readonly string[]
  readonly subject: string
  readonly text?: string
  readonly html?: string
  /** Overrides the brick's `from`. */
  readonly from?: string
  readonly cc?: string | readonly string[]
  readonly bcc?: string | readonly string[]
  readonly replyTo?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly attachments?: readonly MailAttachment[]
}

/** A file of a mail, as nodemailer accepts it. */
export interface MailAttachment {
  readonly filename: string
  readonly content: string | Buffer
  readonly contentType?: string
  /** Content-ID, for images inside the HTML. */
  readonly cid?: string
}

/**
 * Address of the development page of a brick with the service `mailer`. As JSON it has `{ messages }`, newest first; the
 * mailbox of `mortar/testing` reads it.
 */
export const MAIL_PAGE = '/_framework/mail'

/** Options of one message. */
export interface SendOptions {
  /**
   * The manager of a transaction: the message is sent if it commits. Needs a brick with the service `jobQueue`, and takes
   * part in the transaction of `db.transaction` around the call without this option.
   */
  readonly tx?: unknown
  /** Hands the message to the transport once, now, and does not repeat it. */
  readonly now?: boolean
}

/** The service `mailer` of a brick; `ctx.mail` is the same object. */
export interface Mailer {
  /**
   * Resolves with the outbox id when the transport has accepted the message, or when a failure that may pass has made it
   * wait in memory; rejects if another attempt could not succeed. With the service `jobQueue` it resolves when the job
   * that sends the message is stored. With `now` it rejects with each failure.
   */
  send(message: MailMessage, options?: SendOptions): Promise<{ readonly id: string }>
  /** Address of the page where a message can be read in development, or undefined. */
  pageOf?(id: string): string | undefined
}
