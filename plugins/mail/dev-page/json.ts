import type { OutboxMessage } from '../outbox.ts'

/** JSON form of a message for `Accept: application/json`. Optional members are present only with a value. */
export interface MessageJson {
  readonly id: string
  readonly to: string
  readonly from: string
  readonly subject: string
  readonly text: string | null
  readonly html: string | null
  /** ISO 8601, UTC. */
  readonly date: string
  readonly cc?: string
  readonly bcc?: string
  readonly replyTo?: string
  readonly attachments?: readonly { filename: string; contentType: string; size: number }[]
  /** Present unless the message was sent. */
  readonly status?: 'sending' | 'failed'
  readonly error?: string
}

/** Converts a message of the outbox to its JSON form. */
export function messageJson(message: OutboxMessage): MessageJson {
  const { id, to, from, subject, text, html, date, cc, bcc, replyTo, attachments, status, error } = message
  return {
    id,
    to,
    from,
    subject,
    text,
    html,
    date: date.toISOString(),
    ...(cc === '' ? {} : { cc }),
    ...(bcc === '' ? {} : { bcc }),
    ...(replyTo === '' ? {} : { replyTo }),
    ...(attachments.length === 0
      ? {}
      : {
          attachments: attachments.map(({ filename, contentType, content }) => ({
            filename,
            contentType,
            size: content.length,
          })),
        }),
    ...(status === 'sent' ? {} : { status }),
    ...(error === undefined ? {} : { error }),
  }
}
