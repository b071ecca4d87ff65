import type { AsyncLocalStorage } from 'node:async_hooks'
import { format, types } from 'node:util'
import type Koa from 'koa'
import { takeJsonText } from '../compat/koa.ts'
import type { Forwarding } from '../context/client-address.ts'
import type { Context, KoaContext } from '../context/context.ts'
import { linkState, useState } from '../context/koa-state.ts'
import { markDeliberate } from '../context/thrown.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { Logger } from '../contracts/logger.ts'
import { describeError } from '../errors/describe-error.ts'
import { loadKoa } from '../support/lazy-packages.ts'
import { installPipeline, type KoaServe } from './koa-adapter.ts'
import { useForwarding } from './koa-request.ts'

/** Options of Koa's own constructor that an application may set. */
export interface KoaOptions {
  /** Enables `app.koa.currentContext`. `listen()` then serves through Koa, which costs more CPU time per request. */
  readonly asyncLocalStorage?: boolean | AsyncLocalStorage<KoaContext>
  /** Number of host name parts that `ctx.koa.subdomains` omits; 2 by default. */
  readonly subdomainOffset?: number
}

interface KoaReport {
  readonly status?: unknown
  readonly expose?: unknown
  readonly code?: string
}

/** Codes of errors that Koa reports when a client disconnects before its response is complete. */
const GONE = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'])

/** The Koa application of a Mortar application. */
export interface KoaApp {
  readonly app: Koa
  /** Emits an error, which the pipeline has already logged, to the application's own `error` listeners. */
  emitError(ctx: RequestContext, error: unknown): void
  /** Creates the Koa context of a request that did not arrive through Koa. */
  createContext(ctx: RequestContext): KoaContext
}

/**
 * Creates a real Koa application with the pipeline as its last middleware. Koa middleware added with `app.koa.use` runs
 * in front of it, and `callback()` or `koa-mount` serve the same routes anywhere Koa can. Errors that Koa reports are
 * logged; the application can add its own listeners.
 */
export function createKoaApp(
  options: KoaOptions & { readonly keys: readonly string[] | undefined },
  { serve, forwarding, reporter }: { serve: KoaServe; forwarding: Forwarding; reporter: Logger },
): KoaApp {
  const settings: object = options
  const app: Koa = new (loadKoa())(settings)
  installPipeline(app, serve)
  markThrown(app)
  useForwarding(app, forwarding)
  useState(app)
  takeJsonText(app)
  let isLogged = false
  const reported = new WeakMap<KoaContext, unknown>()
  const log = (error: KoaReport, koa?: KoaContext): void => {
    // Skips the errors that Koa's own listener skips, and clients that disconnected.
    if (isLogged || error.status === 404 || error.expose === true || GONE.has(error.code ?? '')) return
    // Koa reports an error of a stream twice.
    if (koa !== undefined && reported.get(koa) === error) return
    if (koa !== undefined) reported.set(koa, error)
    reporter.error({ ...requestIdOf(koa), err: describeError(error) }, 'Koa reported an error')
  }
  app.on('error', log)
  const emitError = (ctx: RequestContext, thrown: unknown): void => {
    isLogged = true
    try {
      emitTo(app, log, ctx, thrown)
      emitToOuter(app, ctx, thrown)
    } catch (error) {
      reporter.error({ err: describeError(error) }, "A listener of app.koa's event 'error' failed")
    } finally {
      isLogged = false
    }
  }
  return { app, emitError, createContext: (ctx) => createKoaContext(app, ctx, emitError) }
}

function requestIdOf(koa: KoaContext | undefined): { readonly requestId?: string } {
  const { mortar } = (koa?.state ?? {}) as { readonly mortar?: Context }
  return mortar === undefined ? {} : { requestId: mortar.id }
}

/** Wraps `ctx.throw`, so that its errors are recognised as deliberate. */
function markThrown(app: Koa): void {
  const { createHttpError } = loadKoa() as unknown as { createHttpError(...args: unknown[]): Error }
  Object.assign(app.context, {
    throw(...args: unknown[]): never {
      const error = createHttpError(...args)
      markDeliberate(error)
      throw error
    },
  })
}

function emitTo(app: Koa, own: (error: KoaReport) => void, ctx: RequestContext, thrown: unknown): void {
  const others = app.listeners('error').some((listener) => listener !== own)
  if (others) app.emit('error', errorOf(ctx, thrown), ctx.koa)
}

/** Emits errors to the outer Koa application as well, if this one is mounted there and it has a listener. */
function emitToOuter(app: Koa, ctx: RequestContext, thrown: unknown): void {
  const outer = ctx.internal.koa?.app
  if (outer === undefined || outer === app) return
  if (outer.listeners('error').some((listener) => listener !== outer.onerror))
    outer.emit('error', errorOf(ctx, thrown), ctx.koa)
}

/** Returns an Error for Koa's listeners, whatever was thrown. Its `headerSent` is true if the response had begun. */
function errorOf({ internal }: RequestContext, thrown: unknown): Error {
  // An error of another realm (node:vm) is not an instance of this realm's class.
  const isError = thrown instanceof Error || types.isNativeError(thrown)
  const error = isError ? thrown : new Error(format('non-error thrown: %j', thrown))
  return internal.res.headersSent ? Object.assign(error, { headerSent: true }) : error
}

/** Creates a Koa context with the same state and connection errors as a request that arrived through Koa. */
function createKoaContext(app: Koa, ctx: RequestContext, emitError: KoaApp['emitError']): KoaContext {
  const { req, res } = ctx.internal
  const koa = app.createContext(req, res)
  linkState(koa, ctx)
  if (app.listenerCount('error') > 1)
    res.once('close', () => {
      const { errored } = req.socket
      if (errored) emitError(ctx, errored)
    })
  return koa
}
