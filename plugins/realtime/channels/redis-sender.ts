import { setTimeout as wait } from 'node:timers/promises'
import { ServiceUnavailable, type Outages } from 'mortar'
import { ignore, inTime } from 'mortar/kit'
import { PAGE, type NewEvent } from './engine.ts'

/** Events that may wait. */
const MOST = 10_000
/** Milliseconds between two attempts, and for the last one. */
const AGAIN = 250
const LAST_ATTEMPT = 2000

/** An event with its number among those of this process. */
export interface NumberedEvent extends NewEvent {
  readonly number: number
}

interface Waiting {
  readonly event: NumberedEvent
  /** True for an event that is sent again until it has arrived. */
  readonly isCommitted: boolean
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

type Send = (events: readonly NumberedEvent[]) => Promise<unknown>

/** Sends events one batch after another, so that one that is sent again keeps its place. */
export class Sender {
  readonly #send: Send
  readonly #outages: Outages
  #waiting: Waiting[] = []
  #count = 0
  #sending: Promise<void> | undefined = undefined
  #isSending = false

  constructor(send: Send, outages: Outages) {
    this.#send = send
    this.#outages = outages
  }

  /** Resolves when the event has arrived. @throws the error of the attempt; for a committed event only at the stop. */
  publish(event: NewEvent, isCommitted: boolean): Promise<void> {
    if (this.#waiting.length >= MOST)
      return Promise.reject(
        new ServiceUnavailable('Too many events wait. Try again shortly.', { retryAfter: 5 }),
      )
    return new Promise((resolve, reject) => {
      this.#waiting.push({ event: { ...event, number: ++this.#count }, isCommitted, resolve, reject })
      if (!this.#isSending) this.#sending = this.#sendAll()
    })
  }

  async stop(): Promise<void> {
    const stops = new Error('The application stops.')
    if (this.#sending !== undefined) await inTime(this.#sending, LAST_ATTEMPT, () => stops).catch(ignore)
    for (const { reject } of this.#waiting.splice(0)) reject(stops)
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, PAGE).map(({ event }) => event)
      try {
        await this.#send(batch)
        for (const { resolve } of this.#waiting.splice(0, batch.length)) resolve()
        this.#outages.end('publications')
      } catch (error) {
        for (const { reject } of this.#waiting.filter(({ isCommitted }) => !isCommitted)) reject(error)
        this.#waiting = this.#waiting.filter(({ isCommitted }) => isCommitted)
        if (this.#waiting.length === 0) break
        const message = 'Committed events wait, because they cannot be published'
        this.#outages.begin({ part: 'publications', error, message, fields: { brick: 'channels' } })
        await wait(AGAIN)
      }
    }
    // Not later than the last look: an event that is published in between would wait for the next one.
    this.#isSending = false
  }
}
