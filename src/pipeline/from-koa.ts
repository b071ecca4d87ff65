import type { HttpError as KoaHttpError, Middleware as KoaMiddleware } from 'koa'
import type { Context, KoaContext } from '../context/context.ts'
import type { Outgoing } from '../context/outgoing.ts'
import { showToKoa, takeFromKoa } from '../context/koa-context.ts'
import type { RequestContext } from '../context/request-context.ts'
import { HttpError, isHttpError } from '../errors/http-error.ts'
import { StartupError } from '../errors/startup-error.ts'
import type { Middleware, Next } from '../routing/route.ts'
import { loadKoa } from '../support/lazy-packages.ts'

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
    runKoa(middleware, ctx as unknown as RequestContext, next)
  Object.defineProperty(run, 'name', { value: middleware.name || 'Koa middleware' })
  return run
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

async function runKoa(middleware: KoaMiddleware, ctx: RequestContext, next: Next): Promise<unknown> {
  const { koa } = ctx
  let value: unknown
  let missed: Error | undefined
  const inner = async (): Promise<void> => {
    try {
      value = await next()
    } catch (error) {
      if (!isUnmatched(ctx, error)) throw error
      missed = error
      koa.res.statusCode = 404
      return
    }
    const outgoing = await prepareFor(ctx, koa, value)
    if (outgoing) showToKoa(ctx, koa, outgoing)
  }
  await translateErrors(() => middleware(koa, inner))
  if (missed !== undefined && koa.status === 404 && isUnanswered(koa)) throw missed
  const outgoing = takeFromKoa(ctx, koa)
  if (outgoing === undefined || outgoing === 'answered') return undefined
  if (ctx.internal.prepared?.outgoing === outgoing) return value
  const body: unknown = koa.body
  ctx.internal.prepared = { value: body, outgoing }
  ctx.internal.status = outgoing.status
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
async function prepareFor(
  ctx: RequestContext,
  koa: KoaContext,
  value: unknown,
): Promise<Outgoing | undefined> {
  const { internal } = ctx
  if (internal.prepared !== undefined && internal.prepared.value === value) return internal.prepared.outgoing
  const taken = value === undefined ? takeFromKoa(ctx, koa) : undefined
  if (taken === 'answered') return undefined
  const outgoing = taken ?? (await internal.prepare!(ctx, value))
  internal.prepared = { value, outgoing }
  return outgoing
}

/** Koa's own errors are deliberate answers; any other error keeps the framework's rule. */
async function translateErrors(work: () => unknown): Promise<void> {
  try {
    await work()
  } catch (error) {
    throw error instanceof loadKoa().HttpError ? translated(error) : error
  }
}

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
