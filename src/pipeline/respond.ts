import { Readable } from 'node:stream'
import { HttpError } from '../errors/http-error.ts'
import type { Outgoing } from '../context/outgoing.ts'
import type { Prepare, RequestContext } from '../context/request-context.ts'
import { takeFromKoa } from '../context/koa-context.ts'
import type { Route } from '../routing/route.ts'
import { compileSerializer } from '../schema/serializer.ts'
import { Invalid } from '../schema/invalid.ts'
import { fail } from './error-boundary.ts'
import { isBodiless, JSON_TYPE, render } from './render.ts'
import type { PipelineRuntime } from './runtime.ts'
import { bytesOf, whenReadable } from './when-readable.ts'

/** Sends a handler's value; a value that cannot be sent becomes an error response. */
export function respond(
  ctx: RequestContext,
  value: unknown,
  runtime: PipelineRuntime,
): void | PromiseLike<void> {
  try {
    const outgoing = prepareOnce(ctx, value)
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
  const { door, res } = ctx.internal
  const { payload } = outgoing
  if (typeof payload === 'string' || !(payload instanceof Readable)) return door.send(ctx, outgoing)
  if (res.headersSent)
    throw new Error('The response was begun by hand, and then a stream was returned as well.')
  const stream = payload.readableObjectMode ? bytesOf(payload) : payload
  return whenReadable(stream, res).then(() => door.send(ctx, { ...outgoing, payload: stream }))
}

function prepareOnce(ctx: RequestContext, value: unknown): Outgoing | Promise<Outgoing> | undefined {
  const { prepared, koa, res, prepare } = ctx.internal
  if (prepared !== undefined && prepared.value === value) return prepared.outgoing
  if (value === undefined && koa !== undefined) {
    const written = takeFromKoa(ctx, koa)
    if (written) return written === 'answered' ? undefined : written
  }
  // A handler that wrote to the response itself and returns nothing has answered.
  if (value === undefined && res.headersSent) return undefined
  return prepare!(ctx, value)
}

/** Compiles how a route's values become responses: through the schema of the status actually sent, if it has one. */
export function compilePrepare(route: Route, runtime: PipelineRuntime): Prepare {
  const { response } = route.definition
  if (response === undefined) return (ctx, value) => render(ctx, statusOf(ctx, value), value)
  const statuses = Object.keys(response).map(Number)
  const serializers = Object.values(response).map(compileSerializer)
  return (ctx, value) => {
    const status = statusOf(ctx, value)
    const serialize = serializers[statuses.indexOf(status)]
    if (serialize === undefined || isBodiless(status)) return render(ctx, status, value)
    const text = serialize(value)
    return text instanceof Promise
      ? text.then((settled) => outgoingOf(settled, status, value, runtime))
      : outgoingOf(text, status, value, runtime)
  }
}

function outgoingOf(
  text: string | Invalid,
  status: number,
  value: unknown,
  runtime: PipelineRuntime,
): Outgoing {
  if (text instanceof Invalid) throw mismatch(text, status, runtime)
  return typeof value === 'string'
    ? { status, type: 'text/plain; charset=utf-8', payload: JSON.parse(text) as string }
    : { status, type: JSON_TYPE, payload: text }
}

function statusOf(ctx: RequestContext, value: unknown): number {
  return ctx.internal.status || (value === undefined || value === null ? 204 : 200)
}

/** An unvalidated value never leaves; only outside production is it said what was wrong with it. */
function mismatch({ issues }: Invalid, status: number, runtime: PipelineRuntime): HttpError {
  const list = issues.map(({ path, message }) => `${path || 'value'}: ${message}`).join('; ')
  const cause = new Error(`The response does not match the schema for ${status}: ${list}`)
  return runtime.environment === 'production'
    ? new HttpError(500, 'The server failed to answer this request.', { code: 'response_mismatch', cause })
    : new HttpError(500, cause.message, { code: 'response_mismatch', extensions: { errors: issues } })
}
