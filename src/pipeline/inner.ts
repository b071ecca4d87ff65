import type { RequestContext } from '../context/request-context.ts'
import type { NamedMiddleware } from '../routing/route.ts'

/** Whatever lies inside a middleware: the next one, or the handler with what comes before it. */
export type Inner = (ctx: RequestContext) => unknown

/** A middleware runs what is inside it once. */
export function calledTwice({ origin }: NamedMiddleware): Error {
  return new Error(`next() was called twice in ${origin}.`)
}
