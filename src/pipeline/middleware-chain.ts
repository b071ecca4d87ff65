import { publicContext, type RequestContext } from '../context/request-context.ts'
import type { NamedMiddleware } from '../routing/route.ts'
import { isFromKoa, wrapInKoa } from './from-koa.ts'
import { calledTwice, type Inner } from './inner.ts'

/**
 * Wraps a handler in middleware, outermost first. `next()` resolves to the inner value; what a middleware returns,
 * when not undefined, is the value further out sees. One that does not call `next()` skips what is inside.
 */
export function wrapInMiddleware(chain: readonly NamedMiddleware[], handler: Inner): Inner {
  if (chain.length === 0) return handler
  const isKoa = isFromKoa(chain[0]!)
  const change = isKoa ? chain.findIndex((middleware) => !isFromKoa(middleware)) : 1
  const together = change === -1 ? chain.length : change
  const inner = wrapInMiddleware(chain.slice(together), handler)
  return isKoa ? wrapInKoa(chain.slice(0, together), inner) : wrap(chain[0]!, inner)
}

function wrap(middleware: NamedMiddleware, inner: Inner): Inner {
  return async (ctx) => {
    const call = new InnerCall(inner, ctx, middleware)
    const value = await middleware.run(publicContext(ctx), () => call.start())
    return value === undefined ? call.value() : value
  }
}

/** The one call of what is inside a middleware. */
class InnerCall {
  private readonly inner: Inner
  private readonly ctx: RequestContext
  private readonly middleware: NamedMiddleware
  private promise: Promise<unknown> | undefined = undefined
  private failed = false

  constructor(inner: Inner, ctx: RequestContext, middleware: NamedMiddleware) {
    this.inner = inner
    this.ctx = ctx
    this.middleware = middleware
  }

  start(): Promise<unknown> {
    if (this.promise !== undefined) throw calledTwice(this.middleware)
    this.promise = this.run()
    this.promise.catch(() => (this.failed = true))
    return this.promise
  }

  /** The inner value for a middleware that returned none: nothing when it never called `next()` or caught the error. */
  value(): Promise<unknown> | undefined {
    return this.failed ? undefined : this.promise
  }

  /** Async, so that an error thrown before the first await is a rejection too. */
  private async run(): Promise<unknown> {
    return this.inner(this.ctx)
  }
}
