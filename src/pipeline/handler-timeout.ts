import type { RequestContext } from '../context/request-context.ts'
import { describeError } from '../errors/describe-error.ts'
import { ServiceUnavailable } from '../errors/http-error.ts'
import { describeRoute, type Route } from '../routing/route.ts'
import { seconds, warnOfLongNumber } from '../support/duration.ts'
import type { PipelineRuntime, Step } from './step.ts'
import { discard } from './render.ts'
import { isUnavailable } from './unavailable.ts'
import { isThenable } from '../support/thenable.ts'

/**
 * Limits the time until a handler returns its value. After that the response is a 503 `handler_timeout`, and
 * `ctx.signal` aborts. The time starts after the body was read and ends with the value: a returned stream has no limit.
 * A response that has begun and a body that is still arriving are not affected.
 */
export function limitTime(route: Route, runtime: PipelineRuntime): Step | undefined {
  const limit = { limit: limitOf(route, runtime), runtime }
  if (limit.limit === 0) return undefined
  return (inner) =>
    function limitedTime(ctx) {
      const value = inner(ctx)
      return isThenable(value) ? race(ctx, value, limit) : value
    }
}

interface Limit {
  /** Milliseconds. */
  readonly limit: number
  readonly runtime: PipelineRuntime
}

function race(ctx: RequestContext, work: PromiseLike<unknown>, { limit, runtime }: Limit): Promise<unknown> {
  const { internal } = ctx
  return new Promise((resolve, reject) => {
    let reason: ServiceUnavailable | undefined
    const timer = startTimer(internal, limit, () => {
      reason = new ServiceUnavailable('The request took too long to handle. Try again later.', {
        code: 'handler_timeout',
        retryAfter: 1,
      })
      reject(reason)
      // If the handler reads ctx.signal later, it is already aborted.
      ;(internal.abort ??= new AbortController()).abort(reason)
    })
    work.then(
      (value) => {
        timer.stop()
        if (reason === undefined) resolve(value)
        else discard(value)
      },
      (error: unknown) => {
        timer.stop()
        if (reason === undefined) reject(error)
        else if (error !== reason) logLate(ctx, error, runtime)
      },
    )
  })
}

/** Calls `onEnd` after `limit` milliseconds in which the response has not begun and no body bytes have arrived. */
function startTimer(
  { req, res }: RequestContext['internal'],
  limit: number,
  onEnd: () => void,
): { stop(): void } {
  let received = req.socket.bytesRead
  let timer = setTimeout(judge, limit)
  function judge(): void {
    if (res.headersSent) return
    if (req.complete || req.socket.bytesRead === received) return onEnd()
    received = req.socket.bytesRead
    timer = setTimeout(judge, limit)
  }
  return { stop: () => clearTimeout(timer) }
}

function logLate(ctx: RequestContext, error: unknown, runtime: PipelineRuntime): void {
  const fields = { requestId: ctx.id, route: ctx.route }
  const explained = runtime.explainError(error)
  if (isUnavailable(explained)) return runtime.unavailable.log(explained, fields)
  runtime.logger.warn(
    { ...fields, err: describeError(error) },
    'A handler failed after its request had timed out',
  )
}

function limitOf(route: Route, runtime: PipelineRuntime): number {
  const { handlerTimeout } = route.definition
  warnOfLongNumber(`handlerTimeout of ${describeRoute(route)}`, handlerTimeout, runtime.logger)
  return 1000 * (handlerTimeout === undefined ? runtime.handlerTimeout : seconds(handlerTimeout))
}
