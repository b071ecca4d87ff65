import type { IncomingMessage, ServerResponse } from 'node:http'

/** Name for `tracingChannel()` of `node:diagnostics_channel`: the channel on which every request is published. */
export const REQUEST_CHANNEL = 'mortar.request'

/** Methods that OpenTelemetry's conventions know. Any other method is `_OTHER`, because a client can invent methods. */
export const KNOWN_METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'CONNECT',
  'TRACE',
  'QUERY',
])

/** The message of `REQUEST_CHANNEL`: one object per request, for all five events. */
export interface ObservedRequest {
  /** As the client sent it, `PROPFIND` included. */
  readonly method: string
  /** Pattern such as `/notes/:id`, known from the start; undefined when no route matches. */
  readonly route: string | undefined
  /** The id in the log and in the header `X-Request-Id` of the response. */
  readonly requestId: string
  /** The services of the application: the object that `start` of its bricks gets. */
  readonly services: object
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** Known at `asyncStart` and `asyncEnd`; 499 when the client disconnected before the response began. */
  readonly status: number | undefined
  /** The value that was thrown, if it made the response a 5xx or cut it off. */
  readonly error: unknown
  /** Fields for the log lines of the request. A subscriber of `start` can set it. */
  logFields: Readonly<Record<string, unknown>> | undefined
  /** Runs the work of the request. A subscriber of `start` can set it, to run the work inside a context of its own. */
  around: Around | undefined
}

/** Runs work and returns its result. */
export type Around = <T>(work: () => T) => T
