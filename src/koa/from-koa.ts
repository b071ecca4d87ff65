import type { Middleware as KoaMiddleware } from 'koa'
import type { Context } from '../context/context.ts'
import type { RequestContext } from '../context/request-context.ts'
import { StartupError } from '../errors/startup-error.ts'
import type { Middleware, NamedMiddleware, Next } from '../routing/route.ts'
import { notAwaited, WRAP, type Inner, type NotAwaited, type WrapOptions } from '../pipeline/step.ts'
import { KoaCalls, type Unawaited } from './koa-calls.ts'
import { enterKoa, leaveKoa, runInside } from './run-koa.ts'

/** A Koa router (`@koa/router`), mounted through its `routes()`. */
interface KoaRouterLike {
  routes(): unknown
}

/**
 * Wraps Koa middleware as Mortar middleware. After its `next()` it finds the response in `ctx.body` and `ctx.status` as
 * in Koa, and its changes there are sent. `docs/koa.md` lists the differences from Koa.
 * @throws StartupError for a value that is neither a function nor a Koa router.
 */
export function fromKoa(item: KoaMiddleware | KoaRouterLike): Middleware {
  const middleware = typeof item === 'function' ? item : routesOf(item)
  const run = async (given: Context, next: Next): Promise<unknown> => {
    const ctx = given as unknown as RequestContext
    const koa = enterKoa(ctx)
    await new KoaCalls(links, koa, () => runInside(ctx, koa, next)).call(0)
    return leaveKoa(ctx, koa)
  }
  const origin = middleware.name || 'Koa middleware'
  const links = [{ named: { run, origin }, run: middleware }]
  Object.defineProperties(run, { name: { value: origin }, [WRAP]: { value: wrapInKoa } })
  WRAPPED.set(run, middleware)
  return run
}

/** The Koa middleware of each function that `fromKoa` returned. */
const WRAPPED = new WeakMap<Middleware, KoaMiddleware>()

/**
 * Wraps a handler in adjacent Koa middleware, outermost first. They call each other as in Koa and share one conversion
 * of the response.
 */
function wrapInKoa(
  chain: readonly NamedMiddleware[],
  inner: Inner,
  { onNotAwaited, isOutermost }: WrapOptions,
): Inner {
  const links = chain.map((named) => ({ named, run: WRAPPED.get(named.run)! }))
  return async function koaMiddleware(ctx) {
    const koa = enterKoa(ctx)
    const calls = new KoaCalls(links, koa, () => runInside(ctx, koa, inner))
    await calls.call(0)
    const isOpen = koa.respond !== false && !koa.headerSent
    if (calls.unawaited !== undefined && isOpen) await insideOf(calls.unawaited, ctx, onNotAwaited)
    return leaveKoa(ctx, koa, isOutermost)
  }
}

/** Reports a middleware that did not await `next()`. Logging keeps the inner response; Koa would send a 404. */
function insideOf(
  { by, inside }: Unawaited,
  ctx: RequestContext,
  onNotAwaited: NotAwaited,
): Promise<unknown> {
  if (onNotAwaited === 'throw') throw notAwaited(by)
  ctx.log.error(notAwaited(by).message)
  return inside
}

function routesOf(router: Partial<KoaRouterLike> | null): KoaMiddleware {
  if (typeof router?.routes === 'function') return router.routes() as KoaMiddleware
  throw new StartupError(`fromKoa: ${typeof router} is not a Koa middleware or a Koa router.`, {
    code: 'MORTAR_USE',
    remedy: 'Pass a function (ctx, next) or a router of @koa/router: fromKoa(helmet()), fromKoa(router).',
  })
}
