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
  readonly cc: string | undefined
  readonly bcc: string | undefined
  readonly replyTo: string | undefined
  readonly attachments: readonly { filename: string; contentType: string; size: number }[] | undefined
  /** Present unless the message was sent. */
  readonly status: 'sending' | 'failed' | undefined
  readonly error: string | undefined
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
    cc: cc || undefined,
    bcc: bcc || undefined,
    replyTo: replyTo || undefined,
    attachments: attachments.length === 0 ? undefined : attachments.map(described),
    status: status === 'sent' ? undefined : status,
    error,
  }
}

function described({ filename, contentType, content }: OutboxMessage['attachments'][number]) {
  return { filename, contentType, size: content.length }
}
