import { Readable } from 'node:stream'
import type Koa from 'koa'
import type { KoaContext } from '../context/context.ts'
import { bodyOf, hearStreams } from '../compat/koa.ts'
import { linkUser } from './koa-context.ts'
import { isSentAsJson, payloadOf } from './koa-payload.ts'
import { isBodiless, isEmpty, isEventStream } from '../context/outgoing.ts'
import type { AdapterState } from '../context/adapter-state.ts'
import type { OuterAppParts } from '../context/outer-app.ts'
import type { RequestContext } from '../context/request-context.ts'
import { requestId } from '../context/request-id.ts'
import { ServiceUnavailable } from '../errors/http-error.ts'
import { PROBLEM_TYPE, problemText } from '../errors/problem.ts'
import { discard } from '../pipeline/render.ts'
import { markSettled } from '../pipeline/step.ts'
import { runInside, takeMissed } from './run-koa.ts'
import { beginTakeover } from '../pipeline/take-over.ts'
import { HOP_BY_HOP } from '../pipeline/render-raw.ts'
import { bytesOf, exactLength, whenReadable } from '../pipeline/when-readable.ts'
import { endEventStreamOnClose } from '../pipeline/sending/end-event-stream.ts'
import { countWritten, finishBegun } from '../pipeline/sending/finish-begun.ts'
import { createKoaProbes } from './koa-probes.ts'
import { openerOf, type Opener } from './koa-side.ts'

/** Number of middlewares of `app.koa` that are Mortar's own: the outermost and the innermost one. */
export const OWN_MIDDLEWARE = 2

/**
 * Makes the pipeline the last middleware of a Koa application. Middleware of `app.koa.use` runs in front of it and sees
 * values and errors as in Koa. The outermost middleware sends a problem document for requests without a response and
 * for uncaught errors of the pipeline.
 */
export function installPipeline(app: Koa, parts: OuterAppParts): void {
  const opened: OpenedKey = Symbol('opened')
  const serve: KoaServe = {
    app,
    parts,
    open: openerOf(parts),
    probes: createKoaProbes(parts.health, parts.boot),
  }
  app.middleware.push(
    (koa, next) => {
      const rest = answerRest(koa, next, opened, serve)
      return koa.req.httpVersionMajor > 1 ? rest.finally(() => keepMessageHeaders(koa)) : rest
    },
    (koa) => runPipeline(koa, opened, serve),
  )
  app.use = function useBeforePipeline(middleware: Koa.Middleware) {
    // Read from the prototype, because instrumentation patches it there.
    const { use } = Object.getPrototypeOf(app) as Koa
    use.call(app, middleware)
    app.middleware.splice(-1, 0, app.middleware.pop()!)
    return app
  } as Koa['use']
}

/** The Koa application and the parts of the application behind it. */
interface KoaServe {
  readonly app: Koa
  readonly parts: OuterAppParts
  readonly open: Opener
  readonly probes: ReturnType<typeof createKoaProbes>
}

/**
 * Key of the `Opened` state on a Koa context. Each application has its own, because a context may pass through several.
 * Not a WeakMap: its entries make each garbage collection several times as long.
 */
type OpenedKey = symbol

const openings = (koa: KoaContext): Record<OpenedKey, Opened | undefined> => koa

/** A request that has reached the pipeline. */
interface Opened {
  readonly ctx: RequestContext
  /** Error that the pipeline threw; undefined for none. */
  error: unknown
}

async function runPipeline(koa: KoaContext, opened: OpenedKey, serve: KoaServe): Promise<void> {
  const { channel, dispatcher } = serve.parts
  countWritten(koa.res)
  // The handler runs in a promise, as with the direct adapter.
  const ctx = await serve.open(koa)
  if (ctx === undefined) return answerUnavailable(koa)
  const own: Opened = { ctx, error: undefined }
  openings(koa)[opened] = own
  try {
    try {
      await channel.run(ctx, () => runInside(ctx, koa, dispatcher.run))
    } finally {
      markSettled(ctx)
      linkUser(ctx, koa)
      // Throws if code has broken the response. Koa could not respond either, and would leave the connection open.
      ctx.internal.adapter.mark?.(ctx)
    }
  } catch (error) {
    own.error = error
    throw error
  }
}

/** HTTP/2 forbids headers of a connection (RFC 9113 §8.2.2). Node throws for them when Koa sends the response. */
function keepMessageHeaders({ res, headerSent }: KoaContext): void {
  if (!headerSent) for (const name of HOP_BY_HOP) res.removeHeader(name)
}

async function answerRest(
  koa: KoaContext,
  next: Koa.Next,
  opened: OpenedKey,
  serve: KoaServe,
): Promise<void> {
  if (koa.app !== serve.app) hearStreams(koa)
  const probe = serve.probes(koa)
  if (probe !== undefined && (await probe)) return
  try {
    await next()
  } catch (error) {
    const own = openings(koa)[opened]
    // Koa handles errors of the middleware in front of the pipeline. It takes null for no error.
    if (own === undefined || !Object.is(own.error, error))
      throw (error ?? new Error(`non-error thrown: ${error}`)) as Error
    fail(own.ctx, error, serve)
    return
  }
  const own = openings(koa)[opened]
  await (own === undefined ? prepareStream(koa, serve.parts.state) : complete(own.ctx, koa, serve))
  // As in the direct adapter.
  if (isBodiless(koa.status)) {
    discard(bodyOf(koa))
    koa.remove('Trailer')
  }
  if (koa.status === 205) endWithoutContent(koa)
}

/** Completes the response. For values that cannot be sent, the rules of the pipeline apply, not those of Koa. */
async function complete(ctx: RequestContext, koa: KoaContext, serve: KoaServe): Promise<void> {
  const missed = takeMissed(ctx, koa)
  if (missed !== undefined) return serve.parts.dispatcher.fail(ctx, missed)
  if (koa.respond === false || isBodiless(koa.status)) return
  try {
    if (koa.status === 101 && ctx.internal.takeover !== undefined) {
      koa.respond = false
      return beginTakeover(ctx)
    }
    const body = bodyOf(koa)
    if (koa.headerSent) finishByHand(ctx, koa, serve.parts.state)
    // An outer Koa application, in which this one is mounted, gets the value itself.
    else if (koa.app === serve.app && !isEmpty(body) && isSentAsJson(body)) koa.body = payloadOf(body)
    else await prepareStream(koa, serve.parts.state, ctx)
  } catch (error) {
    fail(ctx, error, serve)
  }
}

/** Waits for the first bytes of a stream, so that it can still become an error response. */
async function prepareStream(koa: KoaContext, state: AdapterState, ctx?: RequestContext): Promise<void> {
  const stream = exactBody(koa)
  if (stream === undefined) return
  const outgoing = { status: koa.status, type: undefined, payload: stream }
  ctx?.internal.prepare?.endWithSession?.(ctx, outgoing)
  const isLive = isEventStream(koa.res)
  await whenReadable(stream, koa, koa.method === 'HEAD' || isLive)
  if (isLive) koa.res.once('pipe', () => koa.res.flushHeaders())
  if (ctx === undefined) return
  const { observation } = ctx.internal
  if (observation !== undefined) stream.once('error', (error) => observation.fail(error))
  endEventStreamOnClose(ctx, outgoing, state.open)
}

/** Makes the body and its declared length agree, as the direct adapter does. Returns the body if it is a stream. */
function exactBody(koa: KoaContext): Readable | undefined {
  const { res } = koa
  const body = bodyOf(koa)
  if (koa.respond === false || koa.headerSent || isBodiless(koa.status)) return undefined
  if (res.hasHeader('Transfer-Encoding')) res.removeHeader('Content-Length')
  if (isEmpty(body) || isSentAsJson(body)) return undefined
  const payload = payloadOf(body)
  const length = res.getHeader('Content-Length')
  if (payload instanceof Readable) return setStream(koa, payload, length)
  if (length !== undefined && koa.method !== 'HEAD') koa.length = Buffer.byteLength(payload!)
  return undefined
}

function setStream(koa: KoaContext, payload: Readable, length: unknown): Readable {
  const bytes = payload.readableObjectMode ? bytesOf(payload) : payload
  if (koa.method === 'HEAD') return bytes
  koa.body = length === undefined ? bytes : exactLength(bytes, Number(length))
  // Koa removes the length with the body before.
  if (length !== undefined) koa.length = Number(length)
  return koa.body as Readable
}

/** Sends the error response, also after `respond = false`. */
function fail(ctx: RequestContext, error: unknown, serve: KoaServe): void {
  ctx.koa.respond = true
  serve.parts.dispatcher.fail(ctx, error)
}

/** Ends a response whose headers were sent early: Koa would append its reason phrase to the unfinished body. */
function finishByHand(ctx: RequestContext, koa: KoaContext, state: AdapterState): void {
  if (koa.res.writableEnded) return
  koa.respond = false
  const body = bodyOf(koa)
  const payload = isEmpty(body) ? null : payloadOf(body)
  const outgoing = { status: koa.status, type: undefined, payload }
  ctx.internal.prepare?.endWithSession?.(ctx, outgoing)
  endEventStreamOnClose(ctx, outgoing, state.open)
  finishBegun(ctx, outgoing, state.reporter)
}

/** Ends a 205 with a length. Koa sends none, which closes the connection and loses pipelined requests. */
function endWithoutContent(koa: KoaContext): void {
  if (koa.respond === false || koa.headerSent) return
  koa.body = null
  koa.respond = false
  koa.set('Content-Length', '0')
  koa.res.end()
}

/** Sends 503 for a request to an application that is closed or could not start. */
function answerUnavailable(koa: KoaContext): void {
  koa.status = 503
  koa.set({ Connection: 'close', 'Content-Type': PROBLEM_TYPE })
  koa.body = problemText(new ServiceUnavailable(), requestId(koa.get('X-Request-Id')), {
    exposeUnexpected: false,
  })
}
