import { Readable } from 'node:stream'
import { bodyOf, hasExplicitNull, hasExplicitStatus, JsonText, readLater, setObject } from '../compat/koa.ts'
import { jsonText } from '../schema/unsendable.ts'
import { ignore } from '../support/ignore.ts'
import type { KoaContext } from './context.ts'
import { isBodiless, isEmpty, type Outgoing } from './outgoing.ts'
import type { Prepare, RequestContext } from './request-context.ts'

/*
 * Converts between Koa's context and Mortar's. In Koa `ctx.body` is the response; in a handler's ctx it is the
 * validated request body. `test/pipeline/koa-differential.test.ts` compares the results with plain Koa.
 */

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
  const { internal } = ctx
  if (koa.respond === false) return
  if (internal.handed !== undefined) {
    if (internal.handed.value === value) return syncStatus(ctx, koa)
    takeBack(ctx, koa)
  } else if (value === undefined && !isUntouched(koa)) return
  if (isJson(value, internal.prepare!)) return hand(ctx, koa, value, jsonOf(ctx, value))
  const outgoing = internal.prepare!(ctx, value)
  if (outgoing instanceof Promise)
    return outgoing.then((settled) => hand(ctx, koa, value, readBack(koa, settled, value)))
  hand(ctx, koa, value, readBack(koa, outgoing, value))
}

/** Sets the signed-in user for Koa middleware, unless other middleware has set one. */
export function linkUser({ user }: RequestContext, koa: KoaContext): void {
  // `koa.state` is read only if there is a user: its first read defines a member.
  if (user !== null && koa.state['user'] === undefined) koa.state['user'] = user
}

/** Value for the Koa context: like `Outgoing`, but with the value itself instead of JSON. */
interface Handing {
  readonly status: number
  readonly type: string | undefined
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
  ctx.internal.handed = { value, status, type: ownType === undefined ? type : undefined }
}

/** True for a value that is passed to Koa unchanged. Without a response schema, changes by middleware are sent. */
function isJson(value: unknown, prepare: Prepare): boolean {
  if (prepare.hasSchemas === true || value === undefined || value === null) return false
  if (typeof value !== 'object') return typeof value === 'number' || typeof value === 'boolean'
  return isPlain(value)
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
function syncStatus({ internal }: RequestContext, koa: KoaContext): undefined {
  const { status, handed } = internal
  if (status === 0 || status === handed!.status || koa.headerSent) return
  koa.response.status = status
  internal.handed = { ...handed!, status }
}

/** Removes the value that was set for Koa, with its headers, before a new value replaces it. */
function takeBack({ internal }: RequestContext, koa: KoaContext): void {
  const { res } = koa
  const { type } = internal.handed!
  internal.handed = undefined
  if (res.headersSent) return
  res.removeHeader('Content-Length')
  if (type !== undefined && res.getHeader('Content-Type') === type) res.removeHeader('Content-Type')
}

/** Stores and returns the value that Koa middleware has set, for outer Mortar middleware. */
export function keepFromKoa(ctx: RequestContext, koa: KoaContext): unknown {
  return keep(ctx, koa, koa.body)
}

/** As `keepFromKoa`, where no middleware is outside: the returned value only tells that it is Koa's. */
export function keepUnread(ctx: RequestContext, koa: KoaContext): unknown {
  return keep(ctx, koa, bodyOf(koa))
}

function keep(ctx: RequestContext, koa: KoaContext, body: unknown): unknown {
  const value = body ?? undefined
  const { status } = koa
  ctx.internal.status = hasExplicitStatus(koa) ? status : 0
  ctx.internal.handed = { value, status, type: ctx.internal.handed?.type }
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
  const { handed, res } = ctx.internal
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

/** Closes a stream that is not sent. Without a listener, its error would end the process. */
export function dropStream(koa: KoaContext): void {
  const body = bodyOf(koa)
  if (body instanceof Readable) body.once('error', ignore).destroy()
}

/** Applies the rules of Koa's own `respond()`. */
function outgoingOf(koa: KoaContext): Outgoing {
  const { response } = koa
  const { status } = response
  const body = bodyOf(koa)
  if (isBodiless(status)) {
    dropStream(koa)
    return { status, type: undefined, payload: null }
  }
  if (!isEmpty(body)) return { status, type: undefined, payload: payloadOf(body) }
  // Koa would append the reason phrase to a partly written body; here the body ends unchanged.
  if (hasExplicitNull(koa) || koa.headerSent || koa.method === 'HEAD')
    return { status, type: undefined, payload: null }
  response.set('Content-Type', TEXT_TYPE)
  // HTTP/2 has no reason phrases.
  const phrase = koa.req.httpVersionMajor >= 2 ? '' : response.message
  return { status, type: undefined, payload: phrase || String(status) }
}

/**
 * Converts a value of `ctx.body` to a payload.
 * @throws errors of `JSON.stringify`, and for a value that is not JSON.
 */
export function payloadOf(body: unknown): Outgoing['payload'] {
  if (body instanceof JsonText) return body.text
  if (typeof body === 'string' || Buffer.isBuffer(body) || body instanceof Readable) return body
  if (!isPlain(body) && !isSentAsJson(body)) return streamOf(body as object)
  return jsonText(body)
}

/** True for an object or array without a class. */
export function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null
}

/** True for a value of `ctx.body` that is neither text, bytes nor a stream of them. */
export function isSentAsJson(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return typeof body !== 'string'
  if (Buffer.isBuffer(body) || isNodeStream(body)) return false
  // The first use of `Response` makes Node load fetch, so plain objects return first.
  if (!(Symbol.toStringTag in body)) return true
  return !(body instanceof Blob || body instanceof Response || body instanceof ReadableStream)
}

/** Converts web bodies, and streams of other classes that Koa accepts. */
function streamOf(body: object): Readable {
  if (isNodeStream(body)) return new Readable({ objectMode: false }).wrap(body)
  if (body instanceof Blob) return Readable.from(body.stream(), { objectMode: false })
  const source = body instanceof Response ? (body.body ?? []) : (body as ReadableStream)
  return Readable.from(source, { objectMode: false })
}

function isNodeStream(body: object): body is NodeJS.ReadableStream {
  const { pipe, on, readable } = body as { pipe?: unknown; on?: unknown; readable?: unknown }
  return typeof pipe === 'function' && typeof on === 'function' && readable !== false
}
