import type { BodyOf, Widened } from '../../schema/response-body.ts'
import type { Duration } from '../../support/duration.ts'

/** One server-sent event. A string is short for `{ data }`. */
export interface ServerSentEvent<Data = unknown> {
  /** Name for `addEventListener`; `message` by default. */
  readonly event?: string | undefined
  /** A string is sent as it is, any other value as JSON. */
  readonly data?: Data
  /** The browser repeats it as `Last-Event-ID` when it connects again. */
  readonly id?: string | number | undefined
  /** Delay before the browser connects again: seconds, or a duration such as `'3s'`. */
  readonly retry?: Duration | undefined
}

/** Argument of a function that makes events. */
export interface EventSourceRequest {
  /** The id of the last event that the client received; undefined for a new client. */
  readonly lastEventId: string | undefined
  /** Aborts when the client disconnects and when the application begins to close. */
  readonly signal: AbortSignal
}

/** One event, or a string that is short for its data. */
type EventOf<Data> = ServerSentEvent<Data> | (unknown extends Data ? string : Extract<Data, string>)

/** A sequence of events, usually an async generator. */
export type Events<Data = unknown> = AsyncIterable<EventOf<Data>> | readonly EventOf<Data>[]

/** Events, or a function that is called once to make them. */
export type EventsSource<Data = unknown> =
  Events<Data> | ((request: EventSourceRequest) => Events<Data> | Promise<Events<Data>>)

/**
 * The data of the events that a route declares: `response: { 200: { type: 'text/event-stream', schema } }`.
 * Without exact values, because TypeScript reads a generator before it knows the expected data.
 */
export type EventData<Responses> = Responses extends {
  readonly 200: { readonly type: `text/event-stream${string}`; readonly schema: infer Declared }
}
  ? Widened<BodyOf<Declared>>
  : unknown

/** Options of `sse`. */
export interface SseOptions {
  /** Time without an event after which a comment is sent: seconds or a duration, 0 for never. 15 s by default. */
  readonly heartbeat?: Duration
  /** Delay before the browser connects again: seconds, or a duration such as `'3s'`. It is sent first. */
  readonly retry?: Duration
}
