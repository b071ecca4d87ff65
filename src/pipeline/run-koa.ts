import type { Middleware as KoaMiddleware } from 'koa'
import type { KoaContext } from '../context/context.ts'
import {
  handToKoa,
  hasExplicitStatus,
  isUnanswered,
  isUntouched,
  keepFromKoa,
  linkUser,
} from '../context/koa-context.ts'
import type { RequestContext } from '../context/request-context.ts'
import { statusOfThrown } from '../context/thrown.ts'
import { type HttpError, isHttpError } from '../errors/http-error.ts'
import type { Inner } from './step.ts'
import { isThenable } from '../support/thenable.ts'

/**
 * Runs Koa middleware around `inside`, on the request's Koa context. Returns the value that the middleware left in
 * `ctx.body`; the response is made from the Koa context when the pipeline ends, so that later changes in place are sent.
 */
export async function runKoa(
  middleware: KoaMiddleware,
  ctx: RequestContext,
  inside: Inner,
): Promise<unknown> {
  const koa = enterKoa(ctx)
  await middleware(koa, () => runInside(ctx, koa, inside))
  return leaveKoa(ctx, koa)
}

/** The Koa context of a request as Koa middleware expects it: with the status 404 until something is set. */
export function enterKoa(ctx: RequestContext): KoaContext {
  const { koa } = ctx
  if (koa.res.statusCode === 200 && isUntouched(koa)) koa.res.statusCode = 404
  linkUser(ctx, koa)
  return koa
}

/** The value that Koa middleware has left. @throws the 404 of a request without a route that it left unanswered. */
export function leaveKoa(ctx: RequestContext, koa: KoaContext): unknown {
  const missed = takeMissed(ctx, koa)
  if (missed !== undefined) throw missed
  return keepFromKoa(ctx, koa)
}

/**
 * The 404 of a request without a route, if Koa middleware has left it unanswered. In Koa the status is also 404 after a
 * middleware has caught an error and set nothing.
 */
export function takeMissed({ internal }: RequestContext, koa: KoaContext): Error | undefined {
  const { missed, errorStatus } = internal
  if (errorStatus !== 0 && isUntouched(koa) && koa.status === errorStatus) koa.res.statusCode = 404
  internal.missed = undefined
  internal.errorStatus = 0
  return missed !== undefined && koa.status === 404 && isUnanswered(koa) ? missed : undefined
}

/** The `next()` of Koa middleware: runs what is inside and leaves the response on the Koa context. */
export async function runInside(ctx: RequestContext, koa: KoaContext, inside: Inner): Promise<void> {
  const { internal } = ctx
  // Node's own default for a handler that writes to the response itself.
  if (hasExplicitStatus(koa)) internal.status = koa.status
  else if (koa.status === 404 && isUntouched(koa)) koa.res.statusCode = 200
  try {
    const value = inside(ctx)
    const handing = handToKoa(ctx, koa, isThenable(value) ? await value : value)
    if (handing !== undefined) await handing
  } catch (error) {
    // Code that reads the status in `finally` finds the one that will be sent; a body set later makes it 200.
    if (isUntouched(koa)) koa.res.statusCode = internal.errorStatus = statusOfThrown(error)
    if (!isUnmatched(ctx, error)) throw error
    internal.missed = error
  }
}

/**
 * In Koa a path that nobody answers is not an error but a 404 without a body, which a middleware may fill after its
 * `next()`: koa-static with `defer`, fallbacks of single-page applications.
 */
function isUnmatched(ctx: RequestContext, error: unknown): error is HttpError {
  return ctx.route === '' && isHttpError(error) && error.status === 404
}
