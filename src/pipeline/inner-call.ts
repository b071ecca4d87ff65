import type { RequestContext } from '../context/request-context.ts'
import type { NamedMiddleware } from '../routing/route.ts'
import { isThenable } from '../support/thenable.ts'
import { ignore } from '../support/ignore.ts'
import { calledTwice, notAwaited, Refusal, warnOfSkipped, type Inner, type NotAwaited } from './step.ts'

/** Middleware that has set `ctx.body` in production, each of which is reported once. */
const SETTING_BODY = new WeakSet<NamedMiddleware>()

/** The single call of the inner pipeline by a middleware. */
export class InnerCall {
  private readonly inner: Inner
  private readonly ctx: RequestContext
  private readonly middleware: NamedMiddleware
  private isStarted = false
  private promise: WatchedPromise | undefined = undefined
  private failed = false
  private isEnded = false
  /** The body of the request, before `next()` and after it has ended. */
  private body: unknown

  constructor(inner: Inner, ctx: RequestContext, middleware: NamedMiddleware) {
    this.inner = inner
    this.ctx = ctx
    this.middleware = middleware
    this.body = ctx.body
  }

  /**
   * Runs the inner pipeline, or fails with the error that the middleware gives to `next`: in Express that ends the request,
   * and a guard that does it must not let the request through.
   * @throws an error with the name of the middleware if it calls `next()` twice.
   */
  start(error?: unknown): Promise<unknown> {
    if (this.isStarted) throw calledTwice(this.middleware)
    this.isStarted = true
    return (this.promise = error instanceof Error ? WatchedPromise.failed(this.fail(error)) : this.run())
  }

  /**
   * Returns the inner value for a middleware that returned nothing: undefined if it never called `next()` or caught the
   * error. A middleware that did not wait for `next()` is reported by its origin.
   */
  value(onNotAwaited: NotAwaited): Promise<unknown> | undefined {
    const { promise, ctx, middleware } = this
    this.refuseBody(onNotAwaited)
    if (promise === undefined) {
      if (onNotAwaited === 'throw') warnOfSkipped(ctx, middleware)
      return undefined
    }
    if (promise.isUsed) return this.failed ? undefined : promise
    // Without a listener, an inner error would end the process.
    promise.catch(ignore)
    if (onNotAwaited === 'throw') throw notAwaited(middleware)
    ctx.log.error(notAwaited(middleware).message)
    return promise
  }

  /**
   * Reports a middleware that sets `ctx.body`, as in Koa, when nothing reads it any more. Logging reports it once.
   * @throws TypeError
   */
  private refuseBody(onNotAwaited: NotAwaited): void {
    const { ctx, isStarted, isEnded, body, middleware } = this
    if ((isStarted && !isEnded) || ctx.body === body || ctx.internal.outer !== undefined) return
    const message =
      `${middleware.origin} set ctx.body and returned nothing. ctx.body is the body of the request: return the body of ` +
      'the response, or wrap Koa middleware in fromKoa().'
    if (onNotAwaited === 'throw') throw new TypeError(message)
    if (!SETTING_BODY.has(middleware)) ctx.log.error(message)
    SETTING_BODY.add(middleware)
  }

  /** Runs the inner pipeline. A thrown or returned error becomes a rejection. */
  private run(): WatchedPromise {
    try {
      const value = this.inner(this.ctx)
      if (value instanceof Refusal) return WatchedPromise.failed(this.fail(value.error))
      if (!isThenable(value)) return WatchedPromise.of(this.end(value))
      return new WatchedPromise((resolve, reject) => {
        value.then(
          (settled) =>
            settled instanceof Refusal ? reject(this.fail(settled.error)) : resolve(this.end(settled)),
          (error: unknown) => reject(this.fail(error)),
        )
      })
    } catch (error) {
      return WatchedPromise.failed(this.fail(error))
    }
  }

  private end(value: unknown): unknown {
    const { internal, body } = this.ctx
    this.body = body
    this.isEnded = true
    internal.end = value
    internal.ended = 'value'
    return value
  }

  private fail(error: unknown): unknown {
    const { internal, body } = this.ctx
    this.body = body
    this.isEnded = true
    internal.end = error
    internal.ended = 'error'
    this.failed = true
    return error
  }
}

/** A promise that records if it was awaited: `await` and `return` in an async function call `then`. */
export class WatchedPromise<Value = unknown> extends Promise<Value> {
  isUsed = false

  static of<Value>(value: Value | PromiseLike<Value>): WatchedPromise<Value> {
    return new WatchedPromise((resolve) => resolve(value))
  }

  static failed(error: unknown): WatchedPromise {
    return new WatchedPromise((_resolve, reject) => reject(error))
  }

  /** Calls `listener` with the error, which does not end the process even if nobody awaits it. */
  onError(listener: (error: unknown) => void): void {
    void super.then(undefined, listener)
  }

  /** `then` returns an ordinary promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it records the call
  override then<A = Value, B = never>(
    resolved?: ((value: Value) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.isUsed = true
    return super.then(resolved, rejected)
  }
}
