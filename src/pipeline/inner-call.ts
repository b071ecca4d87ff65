import type { RequestContext } from '../context/request-context.ts'
import type { NamedMiddleware } from '../routing/route.ts'
import { calledTwice, notAwaited, type Inner, type NotAwaited } from './step.ts'

/** The one call of what is inside a middleware. */
export class InnerCall {
  private readonly inner: Inner
  private readonly ctx: RequestContext
  private readonly middleware: NamedMiddleware
  private promise: WatchedPromise | undefined = undefined
  private failed = false

  constructor(inner: Inner, ctx: RequestContext, middleware: NamedMiddleware) {
    this.inner = inner
    this.ctx = ctx
    this.middleware = middleware
  }

  /** @throws an error that names the middleware when it calls `next()` a second time. */
  start(): Promise<unknown> {
    if (this.promise !== undefined) throw calledTwice(this.middleware)
    return (this.promise = new WatchedPromise((resolve, reject) => {
      this.run().then(resolve, (error: unknown) => {
        this.failed = true
        reject(error)
      })
    }))
  }

  /**
   * The inner value for a middleware that returned none: undefined when it never called `next()` or caught the error.
   * One that did not wait for `next()` is reported by the name of its place.
   */
  value(onNotAwaited: NotAwaited): Promise<unknown> | undefined {
    const { promise, ctx, middleware } = this
    if (promise === undefined) return undefined
    if (promise.isUsed) return this.failed ? undefined : promise
    // Without a listener, an error of what is inside would end the process.
    promise.catch(ignore)
    if (onNotAwaited === 'throw') throw notAwaited(middleware)
    ctx.log.error(notAwaited(middleware).message)
    return promise
  }

  /** Async, so that an error thrown before the first await is a rejection too. */
  private async run(): Promise<unknown> {
    const { internal } = this.ctx
    try {
      internal.end = await this.inner(this.ctx)
      internal.ended = 'value'
    } catch (error) {
      internal.end = error
      internal.ended = 'error'
      throw error
    }
    return internal.end
  }
}

/** A promise that knows whether anybody has waited for it: `await` and `return` in an async function call `then`. */
class WatchedPromise extends Promise<unknown> {
  isUsed = false

  /** `then` returns an ordinary promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it records that it was called
  override then<A = unknown, B = never>(
    resolved?: ((value: unknown) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.isUsed = true
    return super.then(resolved, rejected)
  }
}

function ignore(): void {}
