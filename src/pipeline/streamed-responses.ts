import type { Readable } from 'node:stream'
import type { BaseContext, RESPONSES } from '../context/context.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { FileSource, SendFileOptions } from './send-file/send-file-options.ts'
import type { EventData, EventsSource, SseOptions } from './sse/events.ts'

/*
 * Functions whose result a handler returns. Their modules are loaded by the first call, so that other applications start
 * without them; `test/app/start.test.ts` bounds the number of modules.
 */

/** The members of `ctx` that `sendFile` and `sse` need; any `ctx` has them. */
export type ResponseTarget = Pick<BaseContext, 'method' | 'status' | 'get' | 'set' | 'signal'>

/**
 * Prepares a file as the response and returns its stream, which the handler returns. Sets status and headers: ranges
 * (206, 416), `ETag`, `Last-Modified`, conditional requests (304, 412), type and caching (RFC 9110 §13 and §14).
 * @throws NotFound for a file that is missing, is not a regular file, or is outside `root`.
 * @throws HttpError 412 `precondition_failed` and 416 `range_not_satisfiable`.
 */
export async function sendFile(
  ctx: ResponseTarget,
  file: string | Uint8Array | FileSource,
  options: SendFileOptions = {},
): Promise<Readable> {
  const { respondWithFile } = await import('./send-file/respond-with-file.ts')
  refuseLate(ctx as unknown as RequestContext, 'sendFile')
  return respondWithFile(ctx as unknown as RequestContext, file, options)
}

/**
 * Prepares a response of server-sent events (HTML, section 9.2) and returns its stream, which the handler returns. The
 * headers are sent immediately. The stream ends with its events, when the client disconnects and when the application
 * begins to close; then `return()` of the iterator is called. An error of the events closes the connection. In a route
 * whose response declares a schema for the events, their data has the type of that schema.
 * @throws RangeError for a `heartbeat` that is not a duration.
 */
export async function sse<Responses = unknown>(
  ctx: ResponseTarget & { readonly [RESPONSES]?: Responses },
  events: EventsSource<EventData<Responses>>,
  options: SseOptions = {},
): Promise<Readable> {
  const { startEvents } = await import('./sse/start-events.ts')
  refuseLate(ctx as unknown as RequestContext, 'sse')
  return startEvents(ctx as unknown as RequestContext, events, options)
}

/** @throws Error if the response is already sent, because the handler did not return the promise. */
function refuseLate({ internal: { res }, method, path }: RequestContext, name: string): void {
  if (!res.writableEnded) return
  throw new Error(
    `${name}() found that the response of ${method} ${path} was already sent. Is a \`return\` missing: return ${name}(ctx, …)?`,
  )
}
