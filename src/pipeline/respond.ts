import { Readable } from 'node:stream'
import { HttpError } from '../errors/http-error.ts'
import { isBodiless, type Outgoing } from '../context/outgoing.ts'
import type { Prepare, RequestContext } from '../context/request-context.ts'
import { takeFromKoa } from '../context/koa-context.ts'
import type { Route } from '../routing/route.ts'
import { compileSerializer } from '../schema/serializer.ts'
import { Invalid } from '../schema/invalid.ts'
import { fail } from './error-boundary.ts'
import { JSON_TYPE, render } from './render.ts'
import type { PipelineRuntime } from './runtime.ts'
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
  const { door, res } = ctx.internal
  const { payload } = outgoing
  if (typeof payload === 'string' || !(payload instanceof Readable)) return door.send(ctx, outgoing)
  const stream = payload.readableObjectMode ? bytesOf(payload) : payload
  // Headers that went out early (server-sent events) leave nothing to wait for.
  if (res.headersSent) return door.send(ctx, { ...outgoing, payload: stream })
  return whenReadable(stream, res).then(() => door.send(ctx, { ...outgoing, payload: stream }))
}

/** Undefined when the response was given already. */
function outgoingFor(ctx: RequestContext, value: unknown): Outgoing | Promise<Outgoing> | undefined {
  const { koa, prepare } = ctx.internal
  if (koa === undefined) return prepare!(ctx, value)
  const taken = takeFromKoa(ctx, koa, value)
  if (taken === 'answered') return undefined
  return taken ?? prepare!(ctx, value)
}

/** Compiles how a route's values become responses: through the schema of the status actually sent, if it has one. */
export function compilePrepare(route: Route, runtime: PipelineRuntime): Prepare {
  const { response } = route.definition
  if (response === undefined) return (ctx, value) => render(ctx, statusOf(ctx, value), value)
  const statuses = Object.keys(response).map(Number)
  const serializers = Object.values(response).map(compileSerializer)
  const prepare: Prepare = (ctx, value) => {
    const status = statusOf(ctx, value)
    const serialize = serializers[statuses.indexOf(status)]
    if (serialize === undefined || isBodiless(status)) return render(ctx, status, value)
    const text = serialize(value)
    return text instanceof Promise
      ? text.then((settled) => outgoingOf(settled, status, value, runtime))
      : outgoingOf(text, status, value, runtime)
  }
  return Object.assign(prepare, { hasSchemas: true as const })
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
