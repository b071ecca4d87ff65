import type Koa from 'koa'
import type { KoaContext } from '../context/context.ts'
import { showToKoa } from '../context/koa-context.ts'
import type { Door } from '../context/request-context.ts'
import { requestId } from '../context/request-id.ts'
import { describeError } from '../errors/describe-error.ts'
import { ServiceUnavailable } from '../errors/http-error.ts'
import { PROBLEM_TYPE, problemOf } from '../errors/problem.ts'
import { isBodiless } from '../pipeline/render.ts'
import { loadKoa } from '../support/lazy-packages.ts'
import { endEventStreamOnClose } from './end-event-stream.ts'
import type { ListenerState } from './listener.ts'

/** Serves one request of a Koa application through the pipeline. */
export type KoaServe = (koa: KoaContext, door: Door) => Promise<void>

interface KoaReport {
  readonly status?: unknown
  readonly expose?: unknown
  readonly code?: string
}

/** What Koa reports when a client leaves before its response is complete. */
const GONE = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'])

/**
 * A real Koa application with the pipeline as its last middleware, so that Koa middleware added with `app.koa.use` runs
 * in front of it, and `callback()` or `koa-mount` serve the same routes anywhere Koa can. What Koa reports as an error
 * is logged; a listener of the application's own may be added.
 */
export function createKoaDoor(serve: KoaServe, state: ListenerState): Koa {
  const { reporter } = state
  const KoaApplication = loadKoa()
  const koa = new KoaApplication()
  koa.use((context) => serveThroughKoa(context, serve, state))
  koa.on('error', (error: KoaReport) => {
    // The same exceptions as in Koa's own listener, and clients that left.
    if (error.status === 404 || error.expose === true || GONE.has(error.code ?? '')) return
    reporter.error({ err: describeError(error) }, 'Koa reported an error')
  })
  koa.use = function useBeforePipeline(middleware: Koa.Middleware) {
    if (typeof middleware !== 'function') throw new TypeError('app.koa.use takes a Koa middleware function.')
    koa.middleware.splice(-1, 0, middleware)
    return koa
  } as Koa['use']
  return koa
}

async function serveThroughKoa(koa: KoaContext, serve: KoaServe, state: ListenerState): Promise<void> {
  // Koa begins with 404, which would be the status of a handler that writes to the bare response.
  if (koa.body === undefined && koa.res.statusCode === 404 && !koa.headerSent) koa.res.statusCode = 200
  await serve(koa, koaDoor(koa, state))
  // The handler answers by itself, and may not have finished yet.
  if (koa.body === undefined && koa.headerSent) koa.respond = false
}

/** Leaves the response on the Koa context, where the middleware around it and Koa itself look for it. */
function koaDoor(koa: KoaContext, state: ListenerState): Door {
  return {
    send(ctx, outgoing) {
      if (koa.headerSent)
        throw new Error('The response was begun by hand, and then a value was returned as well.')
      // An error after `respond = false` still needs an answer.
      koa.respond = true
      if (state.closing) koa.set('Connection', 'close')
      if (ctx.internal.id !== undefined) koa.set('X-Request-Id', ctx.internal.id)
      if (outgoing.payload === null) koa.remove('Content-Type')
      showToKoa(ctx, koa, outgoing)
      endEventStreamOnClose(ctx, outgoing, state.open)
      if (outgoing.payload === null && !isBodiless(outgoing.status)) koa.length = 0
    },
  }
}

/** 503 for a request that comes to an application that is closed, or could not start. */
export function answerUnavailable(koa: KoaContext): void {
  koa.status = 503
  koa.set({ Connection: 'close', 'Content-Type': PROBLEM_TYPE })
  koa.body = JSON.stringify(problemOf(new ServiceUnavailable(), requestId(koa.get('X-Request-Id')), false))
}
