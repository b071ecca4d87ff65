import { publicContext, type RequestContext } from '../context/request-context.ts'
import type { NamedMiddleware } from '../routing/route.ts'

/** Whatever lies inside a middleware: the next one, or the handler with its steps. */
export type Inner = (ctx: RequestContext) => unknown

/**
 * Wraps a handler in middleware, outermost first. `next()` resolves to the inner value; what a middleware returns,
 * when not undefined, is the value further out sees. One that does not call `next()` skips what is inside.
 */
export function wrapInMiddleware(chain: readonly NamedMiddleware[], handler: Inner): Inner {
  return chain.reduceRight<Inner>((inner, middleware) => wrap(middleware, inner), handler)
}

function wrap({ run, origin }: NamedMiddleware, inner: Inner): Inner {
  return async (ctx) => {
    const call = new InnerCall(inner, ctx, origin)
    const value = await run(publicContext(ctx), () => call.start())
    return value === undefined ? call.value() : value
  }
}

/** The one call of what is inside a middleware. */
class InnerCall {
  private readonly inner: Inner
  private readonly ctx: RequestContext
  private readonly origin: string
  private promise: Promise<unknown> | undefined = undefined
  private failed = false

  constructor(inner: Inner, ctx: RequestContext, origin: string) {
    this.inner = inner
    this.ctx = ctx
    this.origin = origin
  }

  start(): Promise<unknown> {
    if (this.promise !== undefined) throw new Error(`next() was called twice in ${this.origin}.`)
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
