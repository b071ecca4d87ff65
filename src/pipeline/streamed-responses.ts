import type { Readable } from 'node:stream'
import type { BaseContext, RESPONSES } from '../context/context.ts'
import type { RequestContext } from '../context/request-context.ts'
import { describeError } from '../errors/describe-error.ts'
import { once } from '../support/once.ts'
import { ignore } from '../support/ignore.ts'
import { whenClosed } from '../support/when-closed.ts'
import { WatchedPromise } from './inner-call.ts'
import type { FileSource, SendFileOptions } from './send-file/send-file-options.ts'
import type { EventData, EventsSource, SseOptions } from './sse/events.ts'

/*
 * Functions whose result a handler returns. Their modules are loaded after the start or by the first call, so that
 * applications start without them; `test/app/start.test.ts` bounds the number of modules.
 */

// Each `import()` costs some microseconds, also of a loaded module.
const loadFiles = once(() => import('./send-file/respond-with-file.ts'))
const loadEvents = once(() => import('./sse/start-events.ts'))

/** Milliseconds after the start, so that the modules do not delay the first requests. */
const LOADING_DELAY = 1000

/**
 * Loads the modules of an application that has started, without their first call: Node repeats the error of a failed
 * `import()` until the process ends, and a busy server may have no free file descriptor (EMFILE).
 */
export function loadStreamedResponses(): void {
  setTimeout(() => void Promise.allSettled([loadFiles(), loadEvents()]), LOADING_DELAY).unref()
}

/** The members of `ctx` that `sendFile` and `sse` need; any `ctx` has them. */
export type ResponseTarget = Pick<BaseContext, 'method' | 'status' | 'get' | 'set' | 'signal'>

/**
 * Prepares a file as the response and returns its stream, which the handler returns. Sets status and headers: ranges
 * (206, 416), `ETag`, `Last-Modified`, conditional requests (304, 412), type and caching (RFC 9110 §13 and §14).
 * @throws NotFound for a file that is missing, is not a regular file, or is outside `root`.
 * @throws HttpError 412 `precondition_failed` and 416 `range_not_satisfiable`.
 */
export function sendFile(
  ctx: ResponseTarget,
  file: string | Uint8Array | FileSource,
  options: SendFileOptions = {},
): Promise<Readable> {
  return begin(ctx, 'sendFile', async (request) => {
    const { respondWithFile } = await loadFiles()
    refuseLate(request, 'sendFile')
    return respondWithFile(request, file, options)
  })
}

/**
 * Prepares a response of server-sent events (HTML, section 9.2) and returns its stream, which the handler returns. The
 * headers are sent immediately. The stream ends with its events, when the client disconnects and when the application
 * begins to close; then `return()` of the iterator is called. An error of the events closes the connection. In a route
 * whose response declares a schema for the events, their data has the type of that schema.
 * @throws RangeError for a `heartbeat` that is not a duration.
 */
export function sse<Responses = unknown>(
  ctx: ResponseTarget & { readonly [RESPONSES]?: Responses },
  events: EventsSource<EventData<Responses>>,
  options: SseOptions = {},
): Promise<Readable> {
  return begin(ctx, 'sse', async (request) => {
    const { startEvents } = await loadEvents()
    refuseLate(request, 'sse')
    return startEvents(request, events, options)
  })
}

/**
 * Notes on the request that its handler has to return the stream: `respond` refuses a handler that returns nothing. A
 * handler that catches the error of the stream may respond with nothing. An error that nobody awaits is logged when the
 * response is over.
 * @throws TypeError for another object than the `ctx` of a handler.
 */
function begin(
  target: ResponseTarget,
  name: string,
  make: (ctx: RequestContext) => Promise<Readable>,
): Promise<Readable> {
  const ctx = target as unknown as RequestContext
  const { internal } = ctx as Partial<RequestContext>
  if (internal === undefined)
    throw new TypeError(`The first argument of ${name}() is not the ctx of a handler.`)
  const made = make(ctx)
  const stream = WatchedPromise.of(made)
  const begun = { name, stream }
  internal.begun = begun
  made.then((unsent) => reportUnsent(ctx, name, stream, unsent), ignore)
  stream.onError((error) => {
    if (stream.isUsed && internal.begun === begun) internal.begun = undefined
    if (!stream.isUsed)
      whenClosed(internal.req, internal.res, () => stream.isUsed || logUnreturned(ctx, name, error))
  })
  return stream
}

/** A stream that was ready before the handler returned another value has no error of its own. */
function reportUnsent(
  ctx: RequestContext,
  name: string,
  stream: WatchedPromise<Readable>,
  unsent: Readable,
): void {
  if (stream.isUsed) return
  const { req, res } = ctx.internal
  whenClosed(req, res, () => {
    if (stream.isUsed) return
    unsent.destroy()
    logUnreturned(ctx, name, sentAlready(ctx, name))
  })
}

function logUnreturned(ctx: RequestContext, name: string, error: unknown): void {
  const fields = { route: ctx.route, origin: ctx.internal.prepare?.origin, err: describeError(error) }
  ctx.log.error(fields, `${name}() failed, and its result was not returned. Write 'return ${name}(ctx, …)'.`)
}

/** @throws Error if the handler has ended, because it did not return the promise. */
function refuseLate(ctx: RequestContext, name: string): void {
  if (ctx.internal.isSettled || ctx.internal.res.writableEnded) throw sentAlready(ctx, name)
}

function sentAlready({ method, path }: RequestContext, name: string): Error {
  return new Error(
    `${name}() found that the response of ${method} ${path} was already sent. Is a \`return\` missing: return ${name}(ctx, …)?`,
  )
}
