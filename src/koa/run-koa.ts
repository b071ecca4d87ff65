import type { KoaContext } from '../context/context.ts'
import { bodyOf, hasExplicitStatus } from '../compat/koa.ts'
import type { KoaRouterLayer } from '../compat/koa-router.ts'
import { handToKoa, isUnanswered, isUntouched, keep, sideOf } from './koa-context.ts'
import type { RequestContext } from '../context/request-context.ts'
import { statusOfThrown } from '../context/thrown.ts'
import { type HttpError, isHttpError } from '../errors/http-error.ts'
import { Refusal, type Inner } from '../pipeline/step.ts'
import { isThenable } from '../support/thenable.ts'

/** Returns the Koa context as Koa middleware expects it: with the status 404 until a status or body is set. */
export function enterKoa(ctx: RequestContext): KoaContext {
  const { koa } = ctx
  const { res } = ctx.internal
  if (res.statusCode === 200 && isUntouched(koa)) res.statusCode = 404
  return koa
}

/**
 * Returns the value that Koa middleware has set. Where no middleware is outside, it only tells that it is Koa's.
 * @throws the 404 of a request without a route and without a response.
 */
export function leaveKoa(ctx: RequestContext, koa: KoaContext, isOutermost = false): unknown {
  const missed = takeMissed(ctx, koa)
  if (missed !== undefined) throw missed
  return keep(ctx, koa, isOutermost ? bodyOf(koa) : koa.body)
}

/**
 * Returns the 404 or 405 of a request without a route, if Koa middleware has set no response. In Koa the status is also 404
 * after a middleware has caught an error and set nothing.
 */
export function takeMissed(ctx: RequestContext, koa: KoaContext): Error | undefined {
  const side = sideOf(ctx)
  const { missed, errorStatus } = side
  if (errorStatus !== 0 && isUntouched(koa) && koa.status === errorStatus) koa.res.statusCode = 404
  side.missed = undefined
  side.errorStatus = 0
  const isMissed = missed !== undefined && isUnanswered(koa)
  return isMissed && (koa.status === missed.status || isUntouched(koa)) ? missed : undefined
}

/**
 * The `next()` of Koa middleware: runs the inner pipeline and sets the response on the Koa context. Returns undefined if
 * that needs no waiting.
 */
export function runInside(ctx: RequestContext, koa: KoaContext, inside: Inner): Promise<void> | undefined {
  const { internal } = ctx
  // Node's own default for a handler that writes to the response itself.
  if (hasExplicitStatus(koa)) internal.status = koa.status
  else if (koa.res.statusCode === 404 && isUntouched(koa)) koa.res.statusCode = 200
  try {
    const value = inside(ctx)
    const handing = isThenable(value) ? handLater(ctx, koa, value) : hand(ctx, koa, value)
    return handing?.catch((error: unknown) => catchInside(ctx, koa, error))
  } catch (error) {
    return catchInside(ctx, koa, error)
  }
}

async function handLater(ctx: RequestContext, koa: KoaContext, value: PromiseLike<unknown>): Promise<void> {
  await hand(ctx, koa, await value)
}

/** @throws the error of a `Refusal`. */
function hand(ctx: RequestContext, koa: KoaContext, value: unknown): Promise<void> | undefined {
  if (value instanceof Refusal) throw value.error
  return handToKoa(ctx, koa, value)
}

/** Rejects with the error, unless it is that of a path without a route. */
async function catchInside(ctx: RequestContext, koa: KoaContext, error: unknown): Promise<void> {
  const side = sideOf(ctx)
  const isMissed = isUnmatched(ctx, error)
  const isOpen = isMissed && (error.status === 404 || isPathOfRouter(koa))
  // Code in `finally` reads the status that will be sent; setting a body later changes it to 200.
  if (isUntouched(koa))
    koa.res.statusCode = side.errorStatus = isOpen
      ? 404
      : statusOfThrown(ctx.internal.runtime.explainError(error))
  if (!isMissed) throw error
  side.missed = error
  if (isOpen || !isUntouched(koa)) return
  koa.status = error.status
  koa.set(error.headers)
}

/**
 * True for a path without a route, or without one of the method. In Koa this is not an error but a 404 or 405 without a
 * body, and a middleware may set the body after its `next()`: koa-static with `defer`, single-page applications.
 */
function isUnmatched(ctx: RequestContext, error: unknown): error is HttpError {
  return ctx.route === '' && isHttpError(error) && (error.status === 404 || error.status === 405)
}

/** True if a Koa router has routes at the path: `router.allowedMethods()` responds to a 404 there, not to a 405. */
function isPathOfRouter(koa: KoaContext): boolean {
  const { matched } = koa as { matched?: readonly KoaRouterLayer[] }
  return matched?.some(({ methods }) => methods.length > 0) === true
}
