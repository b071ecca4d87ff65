import type { RequestContext } from '../context/request-context.ts'
import type { NamedMiddleware } from '../routing/route.ts'

/** Whatever lies inside a middleware: the next one, or the handler with what comes before it. */
export type Inner = (ctx: RequestContext) => unknown

/** A middleware runs what is inside it once. */
export function calledTwice({ origin }: NamedMiddleware): Error {
  return new Error(`next() was called twice in ${origin}.`)
}

/** A middleware that ends before what is inside it loses the value and the errors of what is inside. */
export function notAwaited({ origin }: NamedMiddleware): Error {
  return new Error(
    `next() was called in ${origin} and neither awaited nor returned. Write 'return next()' or 'await next()'.`,
  )
}

/** Treatment of a middleware that calls `next()` and neither awaits nor returns it. */
export type NotAwaited = 'throw' | 'log'
