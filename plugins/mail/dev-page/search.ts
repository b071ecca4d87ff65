import type { OutboxMessage } from '../outbox.ts'

/** Returns the messages that contain every word, in any case: in an address, the subject, the text or the HTML. */
export function searchMessages(messages: readonly OutboxMessage[], search: string): readonly OutboxMessage[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return messages
  return messages.filter((message) => {
    const { from, to, cc, bcc, replyTo, subject, text, html } = message
    const content = [from, to, cc, bcc, replyTo, subject, text, html].join('\n').toLowerCase()
    return words.every((word) => content.includes(word))
  })
}
