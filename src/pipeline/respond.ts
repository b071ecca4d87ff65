import { Readable } from 'node:stream'
import { isBodiless, isEventStream, type Outgoing } from '../context/outgoing.ts'
import type { Prepare, RequestContext } from '../context/request-context.ts'
import { takeFromKoa } from '../context/koa-context.ts'
import type { Route } from '../routing/route.ts'
import { fail } from './error-boundary.ts'
import { refuseHidden, render, renderThoroughly } from './render.ts'
import { compileContent } from './response-content.ts'
import type { PipelineRuntime } from './step.ts'
import { bytesOf, whenReadable } from './when-readable.ts'

/** Sends a handler's value; a value that cannot be sent becomes an error response. */
export function respond(
  ctx: RequestContext,
  value: unknown,
  runtime: PipelineRuntime,
): void | PromiseLike<void> {
  try {
    const outgoing = outgoingFor(ctx, value)
    if (outgoing instanceof Promise)
      return outgoing
        .then((settled) => send(ctx, settled))
        .catch((error: unknown) => fail(ctx, error, runtime))
    const sending = outgoing && send(ctx, outgoing)
    if (sending) return sending.catch((error: unknown) => fail(ctx, error, runtime))
  } catch (error) {
    fail(ctx, error, runtime)
  }
}

function send(ctx: RequestContext, outgoing: Outgoing): void | Promise<void> {
  const { adapter, res } = ctx.internal
  const { payload } = outgoing
  if (typeof payload === 'string' || !(payload instanceof Readable)) return adapter.send(ctx, outgoing)
  const stream = payload.readableObjectMode ? bytesOf(payload) : payload
  // If the headers were sent early (server-sent events), do not wait for the first bytes.
  if (res.headersSent) return adapter.send(ctx, { ...outgoing, payload: stream })
  const hasty = ctx.method === 'HEAD' || isEventStream(res, outgoing.type)
  return whenReadable(stream, res, hasty).then(() => adapter.send(ctx, { ...outgoing, payload: stream }))
}

/** Undefined if the response was already sent. */
function outgoingFor(ctx: RequestContext, value: unknown): Outgoing | Promise<Outgoing> | undefined {
  const { koa, prepare } = ctx.internal
  if (koa === undefined) return prepare!(ctx, value)
  const taken = takeFromKoa(ctx, koa, value)
  if (taken === 'answered') return undefined
  return taken ?? prepare!(ctx, value)
}

/** Compiles the conversion of a route's values to responses, by the declaration of the status that is sent. */
export function compilePrepare(route: Route, runtime: PipelineRuntime): Prepare {
  const prepare = compilePrepareOf(route, runtime)
  return route.definition.logRequests === false ? Object.assign(prepare, { isQuiet: true as const }) : prepare
}

function compilePrepareOf(route: Route, runtime: PipelineRuntime): Prepare {
  const { response } = route.definition
  const isProduction = runtime.environment === 'production'
  const renderOther = isProduction ? render : renderThoroughly
  if (response === undefined) {
    const prepare: Prepare = (ctx, value) => renderOther(ctx, statusOf(ctx, value, 204), value)
    return isProduction ? prepare : Object.assign(prepare, { check: refuseHidden })
  }
  const statuses = Object.keys(response).map(Number)
  const contents = statuses.map((status) => compileContent(route, status, runtime))
  const emptyStatus = emptyStatusOf(route, statuses)
  const prepare: Prepare = (ctx, value) => {
    const status = statusOf(ctx, value, emptyStatus)
    const renderDeclared = contents[statuses.indexOf(status)]
    if (renderDeclared === undefined || isBodiless(status)) return renderOther(ctx, status, value)
    return renderDeclared(ctx, value)
  }
  return Object.assign(prepare, { hasSchemas: true as const })
}

/**
 * Returns the status of a handler that returns nothing and sets no status. If the route declares a success body and no
 * empty response, a `return` is probably missing: undefined is then validated as that body.
 */
function emptyStatusOf({ method }: Route, statuses: readonly number[]): number {
  const successes = statuses.filter((status) => status >= 200 && status < 300)
  if (method === 'HEAD' || successes.some(isBodiless)) return 204
  return successes.includes(200) ? 200 : (successes[0] ?? 204)
}

function statusOf(ctx: RequestContext, value: unknown, emptyStatus: number): number {
  return ctx.internal.status || (value === undefined || value === null ? emptyStatus : 200)
}
