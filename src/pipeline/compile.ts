import { type RequestContext, publicContext } from '../context/request-context.ts'
import type { NamedMiddleware, Route } from '../routing/route.ts'
import { fail } from './error-boundary.ts'
import { withHandlerTimeout } from './handler-timeout.ts'
import { guardSteps } from './guard.ts'
import { identifySteps } from './identify.ts'
import { wrapInMiddleware } from './middleware-chain.ts'
import type { Inner, Step, PipelineRuntime } from './step.ts'
import { withParsedBody } from './parse-body.ts'
import { compilePrepare, respond } from './respond.ts'
import { isThenable } from '../support/thenable.ts'
import { validateSteps } from './validate.ts'

/** Runs one request up to the value of its response, which `respond` sends; throws and rejects with what `fail` sends. */
export type CompiledRoute = Inner

/**
 * Compiles a route once, at boot. Reading this function from its last wrapper to its first is reading the life of a
 * request; what the route does not declare adds nothing.
 */
export function compileRoute(
  route: Route,
  scopes: readonly NamedMiddleware[],
  runtime: PipelineRuntime,
): CompiledRoute {
  const handler = withHandlerTimeout(route, runtime, (ctx) => route.handler(publicContext(ctx))) // 503 when it hangs
  const validated = inOrder(validateSteps(route, runtime), handler) // params, query, headers, body: 422
  const parsed = withParsedBody(route, runtime, validated) //  bytes are read only for those who may
  const guarded = inOrder(guardSteps(route, runtime), parsed) // who may: 401, 403
  const onNotAwaited = runtime.environment === 'production' ? 'log' : 'throw'
  const wrapped = wrapInMiddleware([...scopes, ...route.middleware], guarded, onNotAwaited)
  const run = inOrder(identifySteps(runtime), wrapped)
  const prepare = compilePrepare(route, runtime)
  const pattern = route.path

  return (ctx) => {
    ctx.route = pattern
    ctx.internal.prepare = prepare
    return run(ctx)
  }
}

/** Runs a compiled route and sends its response, errors included; never throws. */
export function answer(
  ctx: RequestContext,
  run: CompiledRoute,
  runtime: PipelineRuntime,
): void | PromiseLike<void> {
  try {
    const value = run(ctx)
    if (!isThenable(value)) return settle(ctx, value, runtime)
    return value.then(
      (settled) => settle(ctx, settled, runtime),
      (error: unknown) => settleFailed(ctx, error, runtime),
    )
  } catch (error) {
    settleFailed(ctx, error, runtime)
  }
}

function settle(ctx: RequestContext, value: unknown, runtime: PipelineRuntime): void | PromiseLike<void> {
  markSettled(ctx)
  return respond(ctx, value, runtime)
}

function settleFailed(ctx: RequestContext, error: unknown, runtime: PipelineRuntime): void {
  markSettled(ctx)
  fail(ctx, error, runtime)
}

/** Services of the request that have a disposer wait for this and for the end of the response. */
export function markSettled({ internal }: RequestContext): void {
  internal.isSettled = true
  internal.onSettled?.()
}

/** Runs the steps one after another and then the last function; synchronous as long as every step is. */
function inOrder(steps: readonly Step[], last: Inner): Inner {
  if (steps.length === 0) return last
  const run = (ctx: RequestContext, from: number): unknown => {
    for (let index = from; index < steps.length; index++) {
      const waiting = steps[index]!(ctx)
      if (waiting !== undefined) return waiting.then(() => run(ctx, index + 1))
    }
    return last(ctx)
  }
  return (ctx) => run(ctx, 0)
}
