import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'

/** A response to send. Headers already set on the response are kept; `type` is used if no Content-Type was set. */
export interface Outgoing {
  readonly status: number
  readonly type: string | undefined
  /** Null for no body; text is UTF-8. */
  readonly payload: string | Buffer | Readable | null
  /** Further headers of a string payload, as a flat list of names and values. They replace headers of the same name. */
  readonly headers?: readonly string[]
}

/**
 * True for server-sent events, whose headers go out before the first event. `type` is used if no Content-Type was set.
 */
export function isEventStream(res: ServerResponse, type?: string): boolean {
  const sent = String(res.getHeader('Content-Type') ?? type ?? '')
  return sent.toLowerCase().startsWith('text/event-stream')
}

/** A call of `sse` or `sendFile`, whose result the handler has to return. */
export interface BegunResponse {
  /** Name of the function. */
  readonly name: string
  readonly stream: Promise<unknown>
}

/** 204, 205 and 304 never have a body (RFC 9110 §15.3.5, §15.3.6, §15.4.5). */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304 || status === 205
}

/** True for a value that has no body of its own. */
export function isEmpty(value: unknown): value is null | undefined {
  return value === undefined || value === null
}

/** Returns the text of an event's data. @throws the error for data that does not match the schema of the route. */
export type SerializeData = (data: unknown) => string | Promise<string>

/** Method of a stream of `sse()`, by which a route with a schema validates the data of each event. */
export const SERIALIZE_EVENTS: unique symbol = Symbol('mortar.serialize-events')
