import { format } from 'node:util'
import type Koa from 'koa'
import { takeJsonText } from '../compat/koa.ts'
import type { Context, KoaContext } from '../context/context.ts'
import type { OuterApp, OuterAppParts } from '../context/outer-app.ts'
import { linkState } from './koa-context.ts'
import { markDeliberate } from '../context/thrown.ts'
import type { RequestContext } from '../context/request-context.ts'
import { describeError, isError } from '../errors/describe-error.ts'
import { countWritten } from '../pipeline/sending/finish-begun.ts'
import { loadKoa } from '../support/lazy-packages.ts'
import { createSide } from './koa-side.ts'
import { installPipeline, OWN_MIDDLEWARE } from './koa-adapter.ts'
import { useForwarding } from './koa-request.ts'

interface KoaReport {
  readonly status?: unknown
  readonly expose?: unknown
  readonly code?: string
}

/** Codes of errors that Koa reports when a client disconnects before its response is complete. */
const GONE = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_HTTP2_STREAM_ERROR'])

/**
 * Creates a real Koa application with the pipeline as its last middleware. Koa middleware added with `app.koa.use` runs
 * in front of it, and `callback()` or `koa-mount` serve the same routes anywhere Koa can. Errors that Koa reports are
 * logged; the application can add its own listeners.
 */
export function openKoa(parts: OuterAppParts): OuterApp {
  const { forwarding, state } = parts
  const { reporter } = state
  const app: Koa = new (loadKoa())(parts.options as object)
  installPipeline(app, parts)
  wrapFunctions(app)
  useForwarding(app, forwarding)
  takeJsonText(app)
  let isLogged = false
  const reported = new WeakMap<KoaContext, unknown>()
  const log = (error: KoaReport, koa?: KoaContext): void => {
    if (isLogged || isNormal(error, koa)) return
    // Koa reports an error of a stream twice.
    if (koa !== undefined && reported.get(koa) === error) return
    if (koa !== undefined) reported.set(koa, error)
    const { mortar } = (koa?.state ?? {}) as { readonly mortar?: Context }
    reporter.error({ requestId: mortar?.id, err: describeError(error) }, 'Koa reported an error')
  }
  app.on('error', log)
  const emitError = (ctx: RequestContext, thrown: unknown): void => {
    isLogged = true
    try {
      emitTo(app, log, ctx, thrown)
      const outer = ctx.internal.outer?.koa.app
      // The Koa application in which this one is mounted.
      if (outer !== undefined && outer !== app) emitTo(outer, outer.onerror, ctx, thrown)
    } catch (error) {
      reporter.error({ err: describeError(error) }, "A listener of app.koa's event 'error' failed")
    } finally {
      isLogged = false
    }
  }
  return {
    app,
    serve: serverOf(app, Boolean(parts.options.asyncLocalStorage)),
    enter: (ctx) => createSide(ctx, createKoaContext(app, ctx, emitError)),
    emitError,
  }
}

/**
 * Returns the function that serves through Koa if middleware was added with `app.koa.use`, or Koa tracks its context. Koa
 * composes its middleware in `callback()`, so the result is kept until middleware is added.
 */
function serverOf(app: Koa, isTracked: boolean): OuterApp['serve'] {
  let composed: { readonly size: number; readonly run: ReturnType<Koa['callback']> } | undefined
  return (req, res) => {
    const size = app.middleware.length
    if (size === OWN_MIDDLEWARE && !isTracked) return false
    if (composed?.size !== size) composed = { size, run: app.callback() }
    void composed.run(req, res)
    return true
  }
}

/**
 * Wraps two functions of the contexts: errors of `ctx.throw` are recognised as deliberate, and `onerror` sends any error.
 * Koa's own one throws for an error that it cannot read, change or send, and the request would stay open.
 */
function wrapFunctions({ context }: Koa): void {
  const { throw: raise, onerror } = context as {
    throw: (...args: unknown[]) => never
    onerror: (error: Error) => void
  }
  Object.assign(context, {
    throw(this: Koa.Context, ...args: unknown[]): never {
      try {
        return raise.apply(this, args)
      } catch (error) {
        markDeliberate(error as Error)
        throw error
      }
    },
    onerror(this: Koa.Context, error: Error): void {
      try {
        onerror.call(this, error)
      } catch (cause) {
        onerror.call(this, new Error('The thrown value cannot be rendered.', { cause }))
      }
    },
  })
}

function emitTo(app: Koa, own: unknown, ctx: RequestContext, thrown: unknown): void {
  const others = app.listeners('error').some((listener) => listener !== own)
  if (others) app.emit('error', errorOf(ctx, thrown), ctx.koa)
}

/** Returns an Error for Koa's listeners, whatever was thrown. Its `headerSent` is true if the response had begun. */
function errorOf({ internal }: RequestContext, thrown: unknown): Error {
  const error = isError(thrown) ? thrown : new Error(format('non-error thrown: %j', thrown))
  return internal.res.headersSent ? Object.assign(error, { headerSent: true }) : error
}

/**
 * True for the errors that Koa's own listener skips, for clients that disconnected, and for the source of an event stream
 * that was ended, when it reports that the signal has aborted it.
 */
function isNormal({ status, expose, code = '' }: KoaReport, koa?: KoaContext): boolean {
  if (status === 404 || expose === true || GONE.has(code)) return true
  return code === 'ABORT_ERR' && koa?.res.writableEnded === true
}

/** Creates a Koa context with the same state and connection errors as a request that arrived through Koa. */
function createKoaContext(app: Koa, ctx: RequestContext, emitError: OuterApp['emitError']): KoaContext {
  const { req, res } = ctx.internal
  countWritten(res)
  const koa = app.createContext(req, res)
  linkState(koa, ctx)
  if (app.listenerCount('error') > 1)
    res.once('close', () => {
      const { errored } = req.socket
      if (errored) emitError(ctx, errored)
    })
  return koa
}
