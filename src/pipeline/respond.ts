import { Readable } from 'node:stream'
import { type BegunResponse, isBodiless, isEventStream, type Outgoing } from '../context/outgoing.ts'
import type { Prepare, RequestContext } from '../context/request-context.ts'
import { describeRoute, readContent, type Route } from '../routing/route.ts'
import { namingRoute } from '../schema/unsendable.ts'
import { ignore } from '../support/ignore.ts'
import { compileEndWithSession } from './end-with-session.ts'
import { fail } from './error-boundary.ts'
import { discard, refuseHidden, render, renderThoroughly } from './render.ts'
import { compileContent, renderDeclared } from './response-content.ts'
import type { PipelineRuntime } from './step.ts'
import { beginTakeover } from './take-over.ts'
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
  const { adapter, prepare, res } = ctx.internal
  const { status, payload } = outgoing
  if (status === 101) return beginTakeover(ctx)
  if (typeof payload === 'string' || !(payload instanceof Readable)) return adapter.send(ctx, outgoing)
  // It was returned.
  ctx.internal.begun = undefined
  const stream = payload.readableObjectMode ? bytesOf(payload) : payload
  prepare?.endWithSession?.(ctx, { ...outgoing, payload: stream })
  // If the headers were sent early (server-sent events), do not wait for the first bytes.
  if (res.headersSent) return adapter.send(ctx, { ...outgoing, payload: stream })
  const hasty = ctx.method === 'HEAD' || isEventStream(res, outgoing.type)
  return whenReadable(stream, ctx.internal, hasty).then(() =>
    adapter.send(ctx, { ...outgoing, payload: stream }),
  )
}

/** Undefined if the response was already sent. */
function outgoingFor(ctx: RequestContext, value: unknown): Outgoing | Promise<Outgoing> | undefined {
  const { outer, prepare } = ctx.internal
  const taken = outer?.take(value)
  if (taken === 'answered') return undefined
  return taken ?? prepare!(ctx, value)
}

/** Compiles the conversion of a route's values to responses, by the declaration of the status that is sent. */
export function compilePrepare(route: Route, runtime: PipelineRuntime): Prepare {
  const prepare = compilePrepareOf(route, runtime)
  const { auth = false, logRequests } = route.definition
  const isPublic = auth === false && route.upgrade?.isOptional !== true
  const endWithSession = isPublic ? undefined : compileEndWithSession(runtime.authenticator)
  return Object.assign(prepare, {
    origin: route.origin,
    ...(logRequests === false && { isQuiet: true as const }),
    ...(endWithSession && { endWithSession }),
  })
}

function compilePrepareOf(route: Route, runtime: PipelineRuntime): Prepare {
  const { response } = route.definition
  const isProduction = runtime.environment === 'production'
  const renderOther = isProduction ? render : renderThoroughly
  if (response === undefined) {
    const prepare: Prepare = (ctx, value) => {
      try {
        return renderOther(ctx, statusOf(ctx, value, 204), value)
      } catch (error) {
        throw namingRoute(error, describeRoute(route))
      }
    }
    return isProduction ? prepare : Object.assign(prepare, { check: refuseHidden })
  }
  const statuses = statusesOf(response)
  const contents = statuses
    .filter((status) => !isRedirectAlone(response, status))
    .map((status) => compileContent(route, status, runtime))
  const emptyStatus = emptyStatusOf(route, statuses)
  const warn = isProduction ? undefined : warnOfDefaultStatus(route, statuses)
  const prepare: Prepare = (ctx, value) => {
    const status = statusOf(ctx, value, emptyStatus)
    const declared = contents.find((content) => content.status === status)
    if (declared !== undefined && !isBodiless(status)) return renderDeclared(ctx, value, declared)
    warn?.(ctx, status, value)
    return renderOther(ctx, status, value)
  }
  return Object.assign(prepare, { hasSchemas: true as const })
}

/** True for a redirect that declares no body, only its meaning. */
function isRedirectAlone(response: NonNullable<Route['definition']['response']>, status: number): boolean {
  const { type, schema } = readContent(response[status] ?? response[200]!)
  return status >= 300 && status < 400 && type === undefined && schema === undefined
}

/** Warns once of a value that is sent unchecked as 200, because the handler did not choose a declared success status. */
function warnOfDefaultStatus(route: Route, statuses: readonly number[]) {
  const [declared] = statuses.filter((status) => status >= 200 && status < 300)
  let isDue = declared !== undefined && !statuses.includes(200)
  return (ctx: RequestContext, status: number, value: unknown): void => {
    // A web `Response` has a status of its own.
    if (!isDue || status !== 200 || ctx.internal.status !== 0 || value instanceof Response) return
    isDue = false
    ctx.log.warn(
      `${describeRoute(route)} sends 200, which \`response\` does not declare, so the value is not ` +
        `checked. Set ctx.status = ${declared}, or return reply(ctx, ${declared}, …).`,
    )
  }
}

/** A part (206) is of the kind that is declared for the whole (200). */
function statusesOf(response: NonNullable<Route['definition']['response']>): number[] {
  const statuses = Object.keys(response).map(Number)
  return 200 in response && !(206 in response) ? [...statuses, 206] : statuses
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
  const { internal } = ctx
  if (value === undefined && internal.begun !== undefined) throw notReturned(ctx, internal.begun)
  if (internal.status !== 0) return internal.status
  if (value !== undefined && value !== null) return 200
  return internal.takeover === undefined ? emptyStatus : 101
}

/** The error for a handler that returns nothing after `sse` or `sendFile`, whose stream is closed. */
function notReturned({ method, route, internal }: RequestContext, { name, stream }: BegunResponse): Error {
  stream.then(discard, ignore)
  const { origin } = internal.prepare!
  return new Error(
    `${method} ${route} (${origin}) called ${name}() and returned nothing. Write 'return ${name}(ctx, …)'.`,
  )
}
