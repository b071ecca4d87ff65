import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { inspect } from 'node:util'
import { SERIALIZE_EVENTS, type SerializeData } from '../../context/outgoing.ts'
import { jsonText } from '../../schema/unsendable.ts'
import { describeValue } from '../../support/describe-value.ts'
import { ignore } from '../../support/ignore.ts'
import type { Events, EventSourceRequest, EventsSource, ServerSentEvent } from './events.ts'
import { frameOf } from './frame.ts'

/** Settings of an `EventStream`. */
export interface EventStreamSettings {
  readonly events: EventsSource
  readonly request: () => EventSourceRequest
  /** Milliseconds without an event after which a comment is sent; 0 for never. */
  readonly heartbeat: number
  /** Fields that are sent before the first event. */
  readonly first: ServerSentEvent | undefined
  /** False for HEAD, and if the client has left or the application is closing: no event is made. */
  readonly isSent: () => boolean
}

type Source = AsyncIterator<unknown> | Iterator<unknown>

/** Events after which other work runs. A source that is always ready would stop every other request. */
const TURN = 64

/** Frames of server-sent events. No event is made while the client is behind. */
export class EventStream extends Readable {
  readonly #settings: EventStreamSettings
  #source: Source | undefined = undefined
  #heartbeat: NodeJS.Timeout | undefined = undefined
  #isBusy = false
  #made = 0
  #serialize: SerializeData = dataText

  constructor(settings: EventStreamSettings) {
    super()
    this.#settings = settings
  }

  /** Validates the data of each event by the schema of the route. */
  [SERIALIZE_EVENTS](serialize: SerializeData): void {
    this.#serialize = serialize
  }

  override _read(): void {
    if (this.#source === undefined && !this.#settings.isSent()) this.push(null)
    else if (!this.#isBusy) {
      this.#isBusy = true
      this.#pushNext().catch((thrown: unknown) => this.destroy(errorOf(thrown)))
    }
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearInterval(this.#heartbeat)
    const { events } = this.#settings
    const source = this.#source ?? (typeof events === 'function' ? undefined : iteratorOf(events))
    if (source !== undefined) release(source)
    done(error)
  }

  async #pushNext(): Promise<void> {
    if (++this.#made % TURN === 0) await nextTurn()
    const source = (this.#source ??= await this.#start())
    const { done, value } = await source.next()
    const frame = done === true ? null : await frameOf(value, this.#serialize)
    this.#isBusy = false
    if (this.destroyed) return
    // A slow client still reads after the last event, and a comment would come after the end.
    if (frame === null) clearInterval(this.#heartbeat)
    else this.#heartbeat?.refresh()
    this.push(frame)
  }

  async #start(): Promise<Source> {
    const { events, request, heartbeat, first } = this.#settings
    if (first !== undefined) this.push(await frameOf(first, this.#serialize))
    if (heartbeat > 0 && !this.destroyed) this.#heartbeat = setInterval(() => this.#beat(), heartbeat).unref()
    const source = iteratorOf(typeof events === 'function' ? await events(request()) : events)
    // The client has disconnected while the function ran.
    if (this.destroyed) release(source)
    return source
  }

  /** Sends a comment, unless the client is behind anyway. */
  #beat(): void {
    if (this.readableLength === 0) this.push(':\n\n')
  }
}

/** Without an error, the stream would end as if the client had left. */
function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(`The source of events threw ${inspect(thrown)}.`)
}

/** Ends an iterator. One that is busy ends later, and nobody waits for its errors. */
function release(source: Source): void {
  Promise.resolve(source.return?.()).catch(ignore)
}

function iteratorOf(events: Events): Source {
  if (typeof events === 'object' && events !== null) {
    if (Symbol.asyncIterator in events) return events[Symbol.asyncIterator]()
    if (Symbol.iterator in events) return events[Symbol.iterator]()
  }
  throw new TypeError(
    `sse() was given ${describeValue(events)}, not an async iterable or a function that returns one.`,
  )
}

function dataText(data: unknown): string {
  return typeof data === 'string' ? data : jsonText(data)
}
