import { publicContext, type RequestContext } from '../context/request-context.ts'
import type { NamedMiddleware } from '../routing/route.ts'
import { isFromKoa, wrapInKoa } from './from-koa.ts'
import type { Inner, NotAwaited } from './step.ts'
import { InnerCall } from './inner-call.ts'

/**
 * Wraps a handler in middleware, outermost first. `next()` resolves to the inner value; what a middleware returns,
 * when not undefined, is the value further out sees. One that does not call `next()` skips what is inside.
 */
export function wrapInMiddleware(
  chain: readonly NamedMiddleware[],
  handler: Inner,
  onNotAwaited: NotAwaited,
): Inner {
  if (chain.length === 0) return handler
  const isKoa = isFromKoa(chain[0]!)
  const change = isKoa ? chain.findIndex((middleware) => !isFromKoa(middleware)) : 1
  const together = change === -1 ? chain.length : change
  const inner = wrapInMiddleware(chain.slice(together), handler, onNotAwaited)
  return isKoa
    ? wrapInKoa(chain.slice(0, together), inner, onNotAwaited)
    : wrap(chain[0]!, inner, onNotAwaited)
}

function wrap(middleware: NamedMiddleware, inner: Inner, onNotAwaited: NotAwaited): Inner {
  return async (ctx: RequestContext) => {
    const call = new InnerCall(inner, ctx, middleware)
    const value = await middleware.run(publicContext(ctx), () => call.start())
    return value === undefined ? call.value(onNotAwaited) : value
  }
}
