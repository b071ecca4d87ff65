import type { HttpError as KoaHttpError, Middleware as KoaMiddleware } from 'koa'
import type { Context, KoaContext } from '../context/context.ts'
import type { Outgoing } from '../context/outgoing.ts'
import { showToKoa, takeFromKoa } from '../context/koa-context.ts'
import type { RequestContext } from '../context/request-context.ts'
import { HttpError, isHttpError } from '../errors/http-error.ts'
import { StartupError } from '../errors/startup-error.ts'
import type { Middleware, NamedMiddleware, Next } from '../routing/route.ts'
import { loadKoa } from '../support/lazy-packages.ts'
import { calledTwice, type Inner } from './inner.ts'

/** A Koa router (`@koa/router`), mounted as it is by its `routes()`. */
interface KoaRouterLike {
  routes(): unknown
}

/**
 * Lets any Koa middleware run as Mortar middleware. After its `next()` it finds the response in `ctx.body` and
 * `ctx.status` as in Koa; what it changes there is what is sent. Errors made by `ctx.throw` keep their status.
 */
export function fromKoa(item: KoaMiddleware | KoaRouterLike): Middleware {
  const middleware = typeof item === 'function' ? item : routesOf(item)
  const run = (ctx: Context, next: Next): Promise<unknown> =>
    runKoa(middleware, ctx as unknown as RequestContext, () => next())
  Object.defineProperty(run, 'name', { value: middleware.name || 'Koa middleware' })
  WRAPPED.set(run, middleware)
  return run
}

/** What each function that `fromKoa` made runs. */
const WRAPPED = new WeakMap<Middleware, KoaMiddleware>()

/** True for what `fromKoa` made. */
export function isFromKoa({ run }: NamedMiddleware): boolean {
  return WRAPPED.has(run)
}

/**
 * Wraps a handler in Koa middleware that stands side by side, outermost first: they call each other as in Koa, and the
 * response is handed over once, not at each of them.
 */
export function wrapInKoa(chain: readonly NamedMiddleware[], inner: Inner): Inner {
  const middlewares = chain.map(({ run }) => WRAPPED.get(run)!)
  const all: KoaMiddleware = (koa, next) => {
    let calls = 0
    const call = (index: number): Promise<unknown> => {
      if (index < calls) throw calledTwice(chain[index - 1]!)
      calls = index + 1
      return index === middlewares.length ? next() : called(middlewares[index]!, koa, () => call(index + 1))
    }
    return call(0)
  }
  return (ctx) => runKoa(all, ctx, inner)
}

/** Async as every middleware in Koa, whatever it returns or throws. */
function called(middleware: KoaMiddleware, koa: KoaContext, next: () => Promise<unknown>): Promise<unknown> {
  try {
    return Promise.resolve(middleware(koa, next))
  } catch (error) {
    return Promise.reject(error)
  }
}

function routesOf(router: Partial<KoaRouterLike> | null): KoaMiddleware {
  if (typeof router?.routes === 'function') return router.routes() as KoaMiddleware
  throw new StartupError(
    `fromKoa was given ${typeof router}, which is no Koa middleware and no Koa router.`,
    {
      code: 'MORTAR_USE',
      remedy:
        'Give it a function (ctx, next), or a router of @koa/router: fromKoa(helmet()), fromKoa(router).',
    },
  )
}

async function runKoa(middleware: KoaMiddleware, ctx: RequestContext, inside: Inner): Promise<unknown> {
  const { koa, internal } = ctx
  let value: unknown
  let missed: Error | undefined
  const inner = async (): Promise<void> => {
    try {
      value = await inside(ctx)
    } catch (error) {
      if (!isUnmatched(ctx, error)) throw error
      missed = error
      koa.res.statusCode = 404
      return
    }
    const outgoing = prepareFor(ctx, koa, value)
    if (outgoing) showToKoa(ctx, koa, outgoing instanceof Promise ? await outgoing : outgoing)
  }
  try {
    await middleware(koa, inner)
  } catch (error) {
    throw error instanceof loadKoa().HttpError ? translated(error) : error
  }
  if (missed !== undefined && koa.status === 404 && isUnanswered(koa)) throw missed
  const outgoing = takeFromKoa(ctx, koa)
  if (outgoing === undefined || outgoing === 'answered') return undefined
  if (internal.prepared?.outgoing === outgoing) return value
  const body: unknown = koa.body
  internal.prepared = { value: body, outgoing }
  internal.status = outgoing.status
  return body
}

/**
 * In Koa a path that nobody answers is no error but a 404 without a body, which a middleware may fill after its `next()`:
 * koa-static with `defer`, fallbacks of single-page applications.
 */
function isUnmatched(ctx: RequestContext, error: unknown): error is HttpError {
  return ctx.route === '' && isHttpError(error) && error.status === 404
}

function isUnanswered(koa: KoaContext): boolean {
  return koa.respond !== false && !koa.headerSent && (koa.body === undefined || koa.body === null)
}

/** Renders the inner value once: through its response schema, as it would be sent without this middleware. */
function prepareFor(
  ctx: RequestContext,
  koa: KoaContext,
  value: unknown,
): Outgoing | Promise<Outgoing> | undefined {
  const { internal } = ctx
  if (internal.prepared !== undefined && internal.prepared.value === value) return internal.prepared.outgoing
  const taken = value === undefined ? takeFromKoa(ctx, koa) : undefined
  if (taken === 'answered') return undefined
  const outgoing = taken ?? internal.prepare!(ctx, value)
  if (outgoing instanceof Promise) return outgoing.then((settled) => keep(ctx, value, settled))
  return keep(ctx, value, outgoing)
}

function keep({ internal }: RequestContext, value: unknown, outgoing: Outgoing): Outgoing {
  internal.prepared = { value, outgoing }
  return outgoing
}

/** Koa's own errors are deliberate answers; any other error keeps the framework's rule. */
function translated(error: InstanceType<typeof KoaHttpError>): unknown {
  if (error.status < 400 || error.status > 599) return error
  const headers = Object.fromEntries(
    Object.entries(error.headers ?? {}).map(([name, value]) => [name, value]),
  )
  return new HttpError(
    error.status,
    error.expose ? error.message : 'The server failed to answer this request.',
    {
      headers,
      cause: error,
    },
  )
}
