import type { OutboxMessage } from '../outbox.ts'

/**
 * Converts a message of the outbox to its JSON form for `Accept: application/json`. Optional members are present only with
 * a value.
 */
export function messageJson(message: OutboxMessage) {
  const { id, to, from, subject, text, html, date, cc, bcc, replyTo, attachments, status, error } = message
  return {
    id,
    to,
    from,
    subject,
    text,
    html,
    /** ISO 8601, UTC. */
    date: date.toISOString(),
    cc: cc || undefined,
    bcc: bcc || undefined,
    replyTo: replyTo || undefined,
    attachments: attachments.length === 0 ? undefined : attachments.map(described),
    /** Present unless the message was sent. */
    status: status === 'sent' ? undefined : status,
    error,
  }
}

function described({ filename, contentType, content }: OutboxMessage['attachments'][number]) {
  return { filename, contentType, size: content.length }
}
