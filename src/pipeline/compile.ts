import { publicContext, type Prepare, type RequestContext } from '../context/request-context.ts'
import { describeRoute, type NamedMiddleware, type Route } from '../routing/route.ts'
import { fail } from './error-boundary.ts'
import { limitTime } from './handler-timeout.ts'
import { limitRequests } from './limit-requests.ts'
import { guardRoute } from './guard.ts'
import { identifyUser } from './identify.ts'
import { runMiddleware } from './middleware-chain.ts'
import { markSettled, Refusal, type Inner, type PipelineRuntime, type Step } from './step.ts'
import { readBody } from './parse-body.ts'
import { compilePrepare, respond } from './respond.ts'
import { isThenable } from '../support/thenable.ts'
import { admitUpgrade } from './take-over.ts'
import { validateInputs } from './validate.ts'

/**
 * Runs one request up to its response value, which `respond` sends. Throws, rejects or returns in a `Refusal` the error
 * that `fail` sends.
 */
export type CompiledRoute = Inner

/**
 * Compiles a route once, at boot. The list shows the steps of a request from top to bottom. A step that the route does
 * not need is undefined and costs nothing. Stack traces show the steps by name.
 */
export function compileRoute(
  route: Route,
  scopes: readonly NamedMiddleware[],
  runtime: PipelineRuntime,
): CompiledRoute {
  const limits = limitRequests(route, runtime)
  const middleware = runMiddleware([...scopes, ...route.middleware], runtime)
  const steps = [
    enterRoute(route, runtime), //      ctx.route, and how values become responses
    limits.byAddress((refusal) => inOrder(middleware, refusal)), // 429, before anything is read
    identifyUser(runtime), //           whose credential it is
    ...middleware, //                   outermost first
    admitUpgrade(route, runtime), //    426
    limits.byCredential, //             429
    guardRoute(route, runtime), //      401, 403
    limits.byCaller, //                 429
    readBody(route, runtime), //        400, 413, 415: nobody without permission makes the server read
    validateInputs(route, runtime), //  422
    limitTime(route, runtime), //       503
  ]
  return inOrder(steps, callHandler(route, runtime))
}

function inOrder(steps: readonly (Step | undefined)[], handler: Inner): Inner {
  return steps.reduceRight((inner, step) => (step === undefined ? inner : step(inner)), handler)
}

/**
 * Returns the last part of a pipeline, which calls the handler. Outside production it refuses a handler that sets
 * `ctx.body`, as in Koa, and returns nothing: its response would be empty.
 */
function callHandler(route: Route, { environment }: PipelineRuntime): Inner {
  const { handler: run } = route
  // `publicContext` returns the same object, with another type.
  if (environment === 'production') return run as unknown as Inner
  return function handler(ctx) {
    const { body } = ctx
    const value: unknown = run(publicContext(ctx))
    if (!isThenable(value)) return checked(ctx, value, body, route)
    return Promise.resolve(value).then((settled) => checked(ctx, settled, body, route))
  }
}

function checked(ctx: RequestContext, value: unknown, body: unknown, route: Route): unknown {
  if (value !== undefined || ctx.body === body || ctx.internal.outer !== undefined) return value
  throw new TypeError(
    `The handler of ${describeRoute(route)} set ctx.body and returned nothing. ctx.body is the body of the ` +
      'request: return the body of the response from the handler.',
  )
}

function enterRoute(route: Route, runtime: PipelineRuntime): Step {
  const prepare = compilePrepare(route, runtime)
  return (inner) => entering(route.path, prepare, inner)
}

function entering(pattern: string, prepare: Prepare, inner: Inner): Inner {
  return function enter(ctx) {
    ctx.route = pattern
    ctx.internal.prepare = prepare
    return inner(ctx)
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
    return Promise.resolve(value).then(
      (settled) => settle(ctx, settled, runtime),
      (error: unknown) => settleFailed(ctx, error, runtime),
    )
  } catch (error) {
    settleFailed(ctx, error, runtime)
  }
}

function settle(ctx: RequestContext, value: unknown, runtime: PipelineRuntime): void | PromiseLike<void> {
  if (value instanceof Refusal) return settleFailed(ctx, value.error, runtime)
  markSettled(ctx)
  return respond(ctx, value, runtime)
}

function settleFailed(ctx: RequestContext, error: unknown, runtime: PipelineRuntime): void {
  markSettled(ctx)
  fail(ctx, error, runtime)
}
