import { Readable } from 'node:stream'
import { SERIALIZE_EVENTS, type SerializeData } from '../../context/outgoing.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { jsonText } from '../../schema/unsendable.ts'
import { describeValue } from '../../support/describe-value.ts'
import { ignore } from '../../support/ignore.ts'
import { createTurns } from '../../support/turns.ts'
import { errorOf } from '../render-raw.ts'
import type { Events, EventSourceRequest, EventsSource, ServerSentEvent } from './events.ts'
import { frameOf } from './frame.ts'

/** Settings of an `EventStream`. */
export interface EventStreamSettings {
  readonly events: EventsSource
  readonly ctx: RequestContext
  /** Milliseconds without an event after which a comment is sent; 0 for never. */
  readonly heartbeat: number
  /** Fields that are sent before the first event. */
  readonly first: ServerSentEvent | undefined
}

/** Of all streams together: a source that is always ready would stop every other request. */
const takeStep = createTurns()

type Source = AsyncIterator<unknown> | Iterator<unknown>

/** Characters of frames that wait for one write. */
const MOST_READY = 16_384

/**
 * Frames of server-sent events. No event is made while the client is behind. The frames of events that are ready at the
 * same time are one write.
 */
export class EventStream extends Readable {
  readonly #settings: EventStreamSettings
  #source: Source | undefined = undefined
  #heartbeat: NodeJS.Timeout | undefined = undefined
  #isBusy = false
  /** Frames that are written when no further event is ready, or the turn of the event loop has no step left. */
  #ready = ''
  /** True until the client is behind. */
  #isWanted = false
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
    this.#isWanted = true
    if (this.#source === undefined && !isSent(this.#settings.ctx)) this.push(null)
    else if (!this.#isBusy) {
      this.#isBusy = true
      this.#makeEvents().catch((thrown: unknown) => {
        this.#flush()
        this.destroy(errorOf(thrown))
      })
    }
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearInterval(this.#heartbeat)
    const { events } = this.#settings
    const source = this.#source ?? (typeof events === 'function' ? undefined : iteratorOf(events))
    if (source !== undefined) release(source)
    done(error)
  }

  async #makeEvents(): Promise<void> {
    while (this.#isWanted && this.#ready.length < MOST_READY) {
      await takeStep()
      const source = (this.#source ??= await this.#start())
      if (this.destroyed) return
      const { done, value } = await source.next()
      const frame = done === true ? null : await frameOf(value, this.#serialize)
      if (this.destroyed) return
      if (frame === null) return this.#end()
      this.#heartbeat?.refresh()
      this.#write(frame)
    }
    this.#isBusy = false
  }

  /** Writes a frame with those that follow before Node runs other work: a tick comes after all ready promises. */
  #write(frame: string): void {
    if (this.#ready === '') process.nextTick(() => this.#flush())
    this.#ready += frame
  }

  #flush(): void {
    const text = this.#ready
    this.#ready = ''
    if (text !== '') this.#isWanted = this.push(text)
  }

  #end(): void {
    // A slow client still reads after the last event, and a comment would come after the end.
    clearInterval(this.#heartbeat)
    this.#flush()
    this.push(null)
  }

  async #start(): Promise<Source> {
    const { events, ctx, heartbeat, first } = this.#settings
    if (first !== undefined) this.#write(await frameOf(first, this.#serialize))
    if (heartbeat > 0 && !this.destroyed) this.#heartbeat = setInterval(() => this.#beat(), heartbeat).unref()
    const source = iteratorOf(typeof events === 'function' ? await events(new EventRequest(ctx)) : events)
    // The client has disconnected while the function ran.
    if (this.destroyed) release(source)
    return source
  }

  /** Sends a comment, unless the client is behind anyway. */
  #beat(): void {
    if (this.readableLength === 0) this.push(':\n\n')
  }
}

/** The argument of a function that makes events. Its signal is made on first read. */
class EventRequest implements EventSourceRequest {
  readonly lastEventId: string | undefined
  readonly #ctx: RequestContext

  constructor(ctx: RequestContext) {
    const header = ctx.get('Last-Event-ID')
    // Browsers send the id as UTF-8, and Node reads headers as one byte per character.
    this.lastEventId = header === undefined ? undefined : Buffer.from(header, 'latin1').toString('utf8')
    this.#ctx = ctx
  }

  get signal(): AbortSignal {
    return this.#ctx.signal
  }
}

/** False for HEAD, and if the response has ended or the application is closing: no event is made. */
function isSent({ method, internal }: RequestContext): boolean {
  return method !== 'HEAD' && internal.abort?.signal.aborted !== true && !internal.runtime.open.isClosing
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
