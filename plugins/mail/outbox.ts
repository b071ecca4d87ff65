import { randomUUID } from 'node:crypto'
import type { PreparedAttachment } from './prepared-message.ts'

/** An outgoing message in the form that the transport received. */
export interface OutboxMessage {
  /** Also the local part of its `Message-ID`. */
  readonly id: string
  readonly date: Date
  readonly status: 'sending' | 'sent' | 'failed'
  /** Reason of the failure, without credentials; only when `status` is `failed`. */
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
  /** Header lines on the wire, unfolded, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly attachments: readonly Required<Omit<PreparedAttachment, 'cid'>>[]
  /** Images of the HTML by Content-ID, as `data:` URLs. */
  readonly images: ReadonlyMap<string, string>
  /** Approximate size in bytes. */
  readonly bytes: number
  /** Returns the whole message as it goes over the wire (RFC 5322), without `Bcc`. */
  source(): Promise<Buffer>
}

/** Stored sent messages, newest first. */
export interface Outbox {
  /** False when the outbox stores nothing (production). */
  readonly enabled: boolean
  /** Adds a message as the newest and drops the oldest ones beyond the limits. */
  add(message: OutboxMessage): void
  /** Records the result of a message. Does nothing when the message was dropped. */
  settle(id: string, outcome: { readonly error?: string }): void
  find(id: string): OutboxMessage | undefined
  /** Newest first. */
  list(): readonly OutboxMessage[]
  /** Removes a message; does nothing if it is not there. */
  remove(id: string): void
  clear(): void
  /** Changes with every change of the list. */
  readonly revision: string
}

/** Limits of an outbox: number of messages and their size together in bytes. The newest message is always kept. */
export interface OutboxLimits {
  readonly size: number
  readonly bytes: number
}

/** Makes an outbox in memory; with `size: 0` it stores nothing. */
export function createOutbox(limits: OutboxLimits): Outbox {
  // A new process starts anew, and a page of the old one has to notice.
  const started = randomUUID()
  let messages: readonly OutboxMessage[] = []
  let changes = 0
  function replace(next: readonly OutboxMessage[]): void {
    messages = next
    changes += 1
  }

  return {
    enabled: limits.size > 0,
    get revision() {
      return `${started}.${changes}`
    },
    add(message) {
      // An attempt to send a message again replaces the one that failed.
      replace(withinLimits([message, ...messages.filter(({ id }) => id !== message.id)], limits))
    },
    settle(id, { error }) {
      const outcome = error === undefined ? { status: 'sent' as const } : { status: 'failed' as const, error }
      replace(messages.map((message) => (message.id === id ? { ...message, ...outcome } : message)))
    },
    find: (id) => messages.find((message) => message.id === id),
    list: () => messages,
    remove: (id) => replace(messages.filter((message) => message.id !== id)),
    clear: () => replace([]),
  }
}

function withinLimits(messages: readonly OutboxMessage[], limits: OutboxLimits): readonly OutboxMessage[] {
  let total = 0
  return messages.slice(0, limits.size).filter((message, index) => {
    total += message.bytes
    return index === 0 || total <= limits.bytes
  })
}
