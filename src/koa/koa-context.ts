import { bodyOf, hasExplicitNull, hasExplicitStatus, readLater, setObject } from '../compat/koa.ts'
import { isObject } from '../support/describe-value.ts'
import type { KoaContext } from '../context/context.ts'
import { isBodiless, isEmpty, type Outgoing } from '../context/outgoing.ts'
import type { Outer } from '../context/outer.ts'
import { publicContext, type Prepare, type RequestContext } from '../context/request-context.ts'
import { discard } from '../pipeline/render.ts'
import { isLiteral } from '../pipeline/render-raw.ts'
import { payloadOf } from './koa-payload.ts'

/*
 * Converts between Koa's context and Mortar's. In Koa `ctx.body` is the response; in a handler's ctx it is the
 * validated request body. `test/pipeline/koa-differential.test.ts` compares the results with plain Koa.
 */

/** Koa's side of a request, with the state that only the files of this folder use. */
export interface KoaSide extends Outer {
  /** The value on the Koa context, if Koa middleware has seen one. */
  handed: HandedValue | undefined
  /** The 404 or 405 of a request without a route, while Koa middleware may still set a response. */
  missed: (Error & { readonly status: number }) | undefined
  /** The status that Koa middleware has seen for an inner error; 0 for none. */
  errorStatus: number
}

/** A value that was set in `ctx.body` for Koa middleware or by it. */
export interface HandedValue {
  /** The value as Mortar middleware and handlers return it. */
  readonly value: unknown
  /** The status that belongs to it. */
  readonly status: number
  /** The Content-Type that was set for the value, unless application code had set one. */
  readonly type: string | undefined
}

/** Returns Koa's side of a request that Koa code has seen. */
export function sideOf({ internal }: RequestContext): KoaSide {
  return internal.outer as KoaSide
}

/** True if nothing was set on the Koa context and nothing was written to the response. */
export function isUntouched(koa: KoaContext): boolean {
  return isEmpty(bodyOf(koa)) && koa.respond !== false && !hasExplicitStatus(koa) && !koa.res.headersSent
}

/** True if the response has no body yet and may still get one. */
export function isUnanswered(koa: KoaContext): boolean {
  return isEmpty(bodyOf(koa)) && koa.respond !== false && !koa.headerSent
}

/**
 * Sets the inner value on the Koa context, where Koa middleware finds it after `next()`: objects as objects (through
 * their response schema), strings, bytes and streams unchanged. Keeps a response that inner Koa code has already set.
 * Throws the error of rendering the value.
 */
export function handToKoa(ctx: RequestContext, koa: KoaContext, value: unknown): Promise<void> | undefined {
  const { prepare } = ctx.internal
  const { handed } = sideOf(ctx)
  if (koa.respond === false) return
  if (handed !== undefined) {
    if (handed.value === value) return syncStatus(ctx, koa)
    takeBack(ctx, koa)
  } else if (value === undefined && !isUntouched(koa)) return
  if (isJson(value, prepare!)) return hand(ctx, koa, value, jsonOf(ctx, value))
  const outgoing = prepare!(ctx, value)
  if (outgoing instanceof Promise)
    return outgoing.then((settled) => hand(ctx, koa, value, readBack(koa, settled, value)))
  hand(ctx, koa, value, readBack(koa, outgoing, value))
}

/** Sets the signed-in user for Koa middleware, unless other middleware has set one. */
export function linkUser({ user }: RequestContext, koa: KoaContext): void {
  if (user !== null && isObject(koa.state) && koa.state['user'] === undefined) koa.state['user'] = user
}

/**
 * Sets Mortar's `ctx` as `ctx.state.mortar` for Koa middleware, which reaches the members of bricks through it. `mortar` is
 * not enumerable, so that templates and logs do not copy it.
 */
export function linkState(koa: KoaContext, ctx: RequestContext): void {
  const value = publicContext(ctx)
  if (isObject(koa.state))
    Reflect.defineProperty(koa.state, 'mortar', { value, configurable: true, writable: true })
}

/** Value for the Koa context: like `Outgoing`, but with the value itself instead of JSON. */
interface Handing extends Pick<Outgoing, 'status' | 'type'> {
  readonly body: unknown
}

function hand(
  ctx: RequestContext,
  koa: KoaContext,
  value: unknown,
  { status, type, body }: Handing,
): undefined {
  const { response, res } = koa
  const ownType = res.getHeader('Content-Type')
  if (isEmpty(body)) {
    if (!koa.headerSent) res.removeHeader('Content-Type')
    response.body = null
    response.status = status
  } else {
    // The type is set first, because Koa guesses one from a body that has none.
    if (ownType === undefined && type !== undefined && !res.headersSent) res.setHeader('Content-Type', type)
    response.status = status
    if (type === JSON_TYPE && typeof body !== 'string' && isEmpty(bodyOf(koa))) setObject(koa, body)
    else response.body = body
    // For an object Koa replaces a type that is not JSON.
    if (ownType !== undefined && !koa.headerSent) res.setHeader('Content-Type', ownType)
  }
  ctx.internal.status = status
  sideOf(ctx).handed = { value, status, type: ownType === undefined ? type : undefined }
}

/** True for a value that is passed to Koa unchanged. Without a response schema, changes by middleware are sent. */
function isJson(value: unknown, prepare: Prepare): boolean {
  if (prepare.hasSchemas === true || value === undefined || value === null) return false
  if (typeof value !== 'object') return typeof value === 'number' || typeof value === 'boolean'
  return isLiteral(value)
}

function jsonOf({ internal }: RequestContext, value: unknown): Handing {
  internal.prepare!.check?.(value)
  const status = internal.status || 200
  return isBodiless(status)
    ? { status, type: undefined, body: null }
    : { status, type: JSON_TYPE, body: value }
}

/** Returns the object as the client would read it through a response schema: declared keys only, dates as strings. */
function readBack(koa: KoaContext, { status, type, payload }: Outgoing, value: unknown): Handing {
  const isJsonText = typeof payload === 'string' && type === JSON_TYPE && typeof value !== 'string'
  return { status, type, body: isJsonText ? readLater(koa, payload) : payload }
}

const JSON_TYPE = 'application/json; charset=utf-8'
const TEXT_TYPE = 'text/plain; charset=utf-8'

/** Mortar middleware between two Koa middlewares may have changed `ctx.status`. */
function syncStatus(ctx: RequestContext, koa: KoaContext): undefined {
  const { status } = ctx.internal
  const side = sideOf(ctx)
  const { handed } = side
  if (status === 0 || status === handed!.status || koa.headerSent) return
  koa.response.status = status
  side.handed = { ...handed!, status }
}

/** Removes the value that was set for Koa, with its headers, before a new value replaces it. */
function takeBack(ctx: RequestContext, koa: KoaContext): void {
  const side = sideOf(ctx)
  const { res } = koa
  const { type } = side.handed!
  side.handed = undefined
  if (res.headersSent) return
  res.removeHeader('Content-Length')
  if (type !== undefined && res.getHeader('Content-Type') === type) res.removeHeader('Content-Type')
}

/** Stores and returns the value that Koa middleware has set, for outer Mortar middleware. */
export function keep(ctx: RequestContext, koa: KoaContext, body: unknown): unknown {
  const value = body ?? undefined
  const { status } = koa
  ctx.internal.status = hasExplicitStatus(koa) ? status : 0
  const side = sideOf(ctx)
  side.handed = { value, status, type: side.handed?.type }
  return value
}

/**
 * Returns the response for the final value if a Koa context exists: the body that Koa code has set, as Koa would send
 * it. Undefined if the value is not Koa's; `'answered'` if nothing is left to send.
 */
export function takeFromKoa(
  ctx: RequestContext,
  koa: KoaContext,
  value: unknown,
): Outgoing | 'answered' | undefined {
  const { handed } = sideOf(ctx)
  const { res } = ctx.internal
  if (koa.respond === false || res.writableEnded) return 'answered'
  if (handed !== undefined) {
    if (handed.value === value) {
      syncStatus(ctx, koa)
      return outgoingOf(koa)
    }
    takeBack(ctx, koa)
    return undefined
  }
  if (value !== undefined) return undefined
  // The handler wrote to the response itself and returned nothing: the response ends here.
  if (res.headersSent && isEmpty(koa.body)) return { status: res.statusCode, type: undefined, payload: null }
  return isUntouched(koa) ? undefined : outgoingOf(koa)
}

/** Applies the rules of Koa's own `respond()`. */
function outgoingOf(koa: KoaContext): Outgoing {
  const { response } = koa
  const { status } = response
  const body = bodyOf(koa)
  if (isBodiless(status)) return { status, type: undefined, payload: discard(body) }
  if (!isEmpty(body)) return { status, type: undefined, payload: payloadOf(body) }
  // Koa would append the reason phrase to a partly written body; here the body ends unchanged.
  if (hasExplicitNull(koa) || koa.headerSent || koa.method === 'HEAD')
    return { status, type: undefined, payload: null }
  response.set('Content-Type', TEXT_TYPE)
  return { status, type: undefined, payload: response.message || String(status) }
}
