import type { PreparedAttachment } from './prepared-message.ts'

/** An outgoing message as the transport was given it. */
export interface OutboxMessage {
  /** Also the local part of its `Message-ID`. */
  readonly id: string
  readonly date: Date
  readonly status: 'sending' | 'sent' | 'failed'
  /** Why it was not sent, without credentials; only when `status` is `failed`. */
  readonly error?: string
  /** Addresses as one line: `Ada <ada@example.com>, bob@example.com`. */
  readonly from: string
  readonly to: string
  readonly cc: string
  readonly bcc: string
  readonly replyTo: string
  readonly subject: string
  readonly text: string | null
  readonly html: string | null
  /** Header lines as they were sent, unfolded, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly attachments: readonly Required<Omit<PreparedAttachment, 'cid'>>[]
  /** Images of the HTML by Content-ID, as `data:` URLs. */
  readonly images: ReadonlyMap<string, string>
  /** What it takes up, in bytes, roughly. */
  readonly bytes: number
}

/** The sent messages that are kept, newest first. */
export interface Outbox {
  /** False when nothing is kept (production). */
  readonly enabled: boolean
  /** Puts a message in front and drops the oldest ones beyond the limits. */
  add(message: OutboxMessage): void
  /** Notes what became of a message; does nothing when it is no longer kept. */
  settle(id: string, outcome: { readonly error?: string }): void
  find(id: string): OutboxMessage | undefined
  /** Newest first. */
  list(): readonly OutboxMessage[]
  clear(): void
}

/** Limits of an outbox: number of messages and their size together in bytes. The newest message is always kept. */
export interface OutboxLimits {
  readonly size: number
  readonly bytes: number
}

/** Makes an outbox in memory; with `size: 0` it keeps nothing. */
export function createOutbox(limits: OutboxLimits): Outbox {
  let messages: readonly OutboxMessage[] = []

  return {
    enabled: limits.size > 0,
    add(message) {
      messages = withinLimits([message, ...messages], limits)
    },
    settle(id, { error }) {
      const outcome = error === undefined ? { status: 'sent' as const } : { status: 'failed' as const, error }
      messages = messages.map((message) => (message.id === id ? { ...message, ...outcome } : message))
    },
    find: (id) => messages.find((message) => message.id === id),
    list: () => messages,
    clear() {
      messages = []
    },
  }
}

function withinLimits(messages: readonly OutboxMessage[], limits: OutboxLimits): readonly OutboxMessage[] {
  let total = 0
  return messages.slice(0, limits.size).filter((message, index) => {
    total += message.bytes
    return index === 0 || total <= limits.bytes
  })
}
