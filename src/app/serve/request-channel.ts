import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import type { RequestContext } from '../../context/request-context.ts'
import { type ObservedRequest, REQUEST_CHANNEL } from '../../contracts/observed-request.ts'
import type { Route } from '../../routing/route.ts'
import { whenAnswered } from '../../context/takeover.ts'
import { finalStatus } from './final-status.ts'

/** Publishes the requests of an application on the diagnostics channel `tracing:mortar.request`. */
export interface RequestChannel {
  /**
   * Runs `dispatch`. With subscribers it publishes `start` before and `end` after it, and runs it inside the stores that
   * are bound to `start`. When the response has finished or its connection has closed, it publishes `asyncStart` and
   * `asyncEnd`. Without subscribers the check for them is the whole cost.
   */
  run<T>(ctx: RequestContext, dispatch: (ctx: RequestContext) => T): T
}

/** The application of a channel. */
export interface ChannelSource {
  readonly services: object
  /** Finds the route of a request. */
  readonly routeOf: (ctx: RequestContext) => Route | undefined
}

/** Creates the channel of one application. All applications of a process share the name. */
export function createRequestChannel({ services, routeOf }: ChannelSource): RequestChannel {
  // The types of Node 20 omit `hasSubscribers`.
  const channel = tracingChannel<object, ObservedRequest>(REQUEST_CHANNEL) as Channel
  return {
    run: (ctx, dispatch) => (channel.hasSubscribers ? publish(ctx, dispatch) : dispatch(ctx)),
  }

  function publish<T>(ctx: RequestContext, dispatch: (ctx: RequestContext) => T): T {
    const { req, res } = ctx.internal
    const observed: Writable = {
      method: ctx.method,
      route: routeOf(ctx)?.path,
      requestId: ctx.id,
      services,
      req,
      res,
      status: undefined,
      error: undefined,
      logFields: undefined,
      around: undefined,
    }
    ctx.internal.observation = { request: observed, fail: (error) => publishError(observed, error) }
    const work = (): T => dispatch(ctx)
    const result = channel.start.runStores(observed, () => (observed.around ? observed.around(work) : work()))
    channel.end.publish(observed)
    whenAnswered(req, res, () => {
      observed.status = finalStatus(res)
      // A mounted router of @koa/router decides in its handler that none of its routes matches.
      if (ctx.route === '') observed.route = undefined
      channel.asyncStart.publish(observed)
      channel.asyncEnd.publish(observed)
    })
    return result
  }

  function publishError(observed: Writable, error: unknown): void {
    // Rendering a failed response can fail too; the first error is the cause.
    if (observed.error !== undefined) return
    observed.error = error
    channel.error.publish(observed)
  }
}

type Channel = TracingChannel<object, ObservedRequest> & { readonly hasSubscribers: boolean }
type Writable = { -readonly [Key in keyof ObservedRequest]: ObservedRequest[Key] }
