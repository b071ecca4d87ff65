/** Codes of a message that was not sent. */
export type MailErrorCode =
  'MAIL_INVALID_MESSAGE' | 'MAIL_NOT_SENT' | 'MAIL_TIMEOUT' | 'MAIL_CLOSED' | 'MAIL_NO_QUEUE'

/** Properties of a `MailError` beside its message and code. */
export interface MailErrorDetails {
  /** Outbox id of the message, when it had one. */
  readonly id?: string
  /** The transport's own code, such as `EAUTH` or `ECONNREFUSED`. */
  readonly reason?: string
  /** SMTP reply code, when a server replied. */
  readonly responseCode?: number
  /** True when sending the same message again would fail again (RFC 5321 §4.2.1, replies 5yz). */
  readonly permanent?: boolean
  readonly cause?: unknown
}

/** A message that was not sent. Message and cause contain no credentials and no recipient. */
export class MailError extends Error {
  override readonly name = 'MailError'
  readonly code: MailErrorCode
  readonly id: string | undefined
  readonly reason: string | undefined
  readonly responseCode: number | undefined
  readonly permanent: boolean

  constructor(code: MailErrorCode, message: string, details: MailErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.id = details.id
    this.reason = details.reason
    this.responseCode = details.responseCode
    this.permanent = details.permanent ?? false
  }
}
