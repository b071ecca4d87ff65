import { Readable } from 'node:stream'
import { jsonText } from '../schema/unsendable.ts'
import { ignore } from '../support/ignore.ts'
import type { KoaContext } from './context.ts'
import { isBodiless, isEmpty, type Outgoing } from './outgoing.ts'
import type { Prepare, RequestContext } from './request-context.ts'

/*
 * The one place where both meanings of body and status meet. In Koa `ctx.body` is the response; in a handler's ctx it is
 * the validated request body. `test/pipeline/koa-differential.test.ts` compares the results with plain Koa.
 */

/** Marks that Koa keeps on its response: a status that was set by code, and a body that was set to null by code. */
interface KoaMarks {
  _explicitStatus?: boolean
  _explicitNullBody?: boolean
  _body?: unknown
}

/** True when code has set a status, or Koa has set one for a body. */
export function hasExplicitStatus({ response }: KoaContext): boolean {
  return (response as unknown as KoaMarks)._explicitStatus === true
}

/** True when nothing was set on the Koa context and nothing was written to the response. */
export function isUntouched(koa: KoaContext): boolean {
  const { response } = koa
  return isEmpty(response.body) && koa.respond !== false && !hasExplicitStatus(koa) && !koa.res.headersSent
}

/** True when the response has no body yet and may still get one. */
export function isUnanswered(koa: KoaContext): boolean {
  return isEmpty(koa.body) && koa.respond !== false && !koa.headerSent
}

/**
 * Puts the value of what is inside on the Koa context, where Koa middleware finds it after `next()`: objects as objects
 * (through their response schema), strings, bytes and streams as they are. A response that Koa code inside has already
 * set stays. Throws what rendering the value throws.
 */
export function handToKoa(ctx: RequestContext, koa: KoaContext, value: unknown): void | Promise<void> {
  const { internal } = ctx
  if (koa.respond === false) return
  if (internal.handed !== undefined) {
    if (internal.handed.value === value) return syncStatus(ctx, koa)
    takeBack(ctx, koa)
  } else if (value === undefined && !isUntouched(koa)) return
  if (isJson(value, internal.prepare!)) return hand(ctx, koa, value, jsonOf(ctx, value))
  const outgoing = internal.prepare!(ctx, value)
  if (outgoing instanceof Promise)
    return outgoing.then((settled) => hand(ctx, koa, value, readBack(settled, value)))
  hand(ctx, koa, value, readBack(outgoing, value))
}

/** Gives Koa middleware the signed-in user, unless other middleware has found one. */
export function linkUser({ user }: RequestContext, koa: KoaContext): void {
  // `koa.state` is read only if there is a user: its first read defines a member.
  if (user !== null && koa.state['user'] === undefined) koa.state['user'] = user
}

/** Value for the Koa context: like `Outgoing`, with the value itself where JSON is sent. */
interface Handing {
  readonly status: number
  readonly type: string | undefined
  readonly body: unknown
}

function hand(ctx: RequestContext, koa: KoaContext, value: unknown, { status, type, body }: Handing): void {
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
    if (type === JSON_TYPE && isEmpty(response.body)) setObject(koa, body)
    else response.body = body
    // For an object Koa replaces a type that is not JSON.
    if (ownType !== undefined && !koa.headerSent) res.setHeader('Content-Type', ownType)
  }
  ctx.internal.status = status
  ctx.internal.handed = { value, status, type: ownType === undefined ? type : undefined }
}

/** Does what Koa's setter does for an object, without its search for streams and web bodies. */
function setObject({ response, res }: KoaContext, body: unknown): void {
  const marks = response as unknown as KoaMarks
  if (typeof body === 'string') return void (response.body = body)
  marks._body = body
  if (!res.headersSent) res.removeHeader('Content-Length')
}

/** An object without a response schema is handed over itself: what middleware changes in it is sent. */
function isJson(value: unknown, prepare: Prepare): boolean {
  if (prepare.hasSchemas === true || value === undefined || value === null) return false
  if (typeof value !== 'object') return typeof value === 'number' || typeof value === 'boolean'
  return isPlain(value)
}

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null
}

function jsonOf({ internal }: RequestContext, value: unknown): Handing {
  internal.prepare!.check?.(value)
  const status = internal.status || 200
  return isBodiless(status)
    ? { status, type: undefined, body: null }
    : { status, type: JSON_TYPE, body: value }
}

/** With a response schema, the object that the client would read: declared keys alone, dates as strings. */
function readBack({ status, type, payload }: Outgoing, value: unknown): Handing {
  if (typeof payload !== 'string' || type !== JSON_TYPE || typeof value === 'string')
    return { status, type, body: payload }
  const body: unknown = JSON.parse(payload)
  // Koa would send a string as text, and null as an empty response.
  return { status, type, body: typeof body === 'string' || body === null ? payload : body }
}

const JSON_TYPE = 'application/json; charset=utf-8'
const TEXT_TYPE = 'text/plain; charset=utf-8'

/** Mortar middleware between two Koa middlewares may have changed `ctx.status`. */
function syncStatus({ internal }: RequestContext, koa: KoaContext): void {
  const { status, handed } = internal
  if (status === 0 || status === handed!.status || koa.headerSent) return
  koa.response.status = status
  internal.handed = { ...handed!, status }
}

/** A new value replaces the one that was handed over, and the headers that described it. */
function takeBack({ internal }: RequestContext, koa: KoaContext): void {
  const { res } = koa
  const { type } = internal.handed!
  internal.handed = undefined
  if (res.headersSent) return
  res.removeHeader('Content-Length')
  if (type !== undefined && res.getHeader('Content-Type') === type) res.removeHeader('Content-Type')
}

/** Keeps what Koa middleware left, for Mortar middleware around it. Returns it as the value of the middleware. */
export function keepFromKoa(ctx: RequestContext, koa: KoaContext): unknown {
  const value: unknown = koa.body ?? undefined
  const { status } = koa
  ctx.internal.status = hasExplicitStatus(koa) ? status : 0
  ctx.internal.handed = { value, status, type: ctx.internal.handed?.type }
  return value
}

/**
 * The response for a value that leaves the pipeline while a Koa context exists: what Koa code has set, as Koa would send
 * it. Undefined when the value is not Koa's; `'answered'` when nothing is left to send.
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
  // A handler that wrote to the response itself and returns nothing: the response ends here.
  if (res.headersSent && isEmpty(koa.body)) return { status: res.statusCode, type: undefined, payload: null }
  return isUntouched(koa) ? undefined : outgoingOf(koa)
}

/** Closes a stream that is not sent; without a listener, an error of it would end the process. */
export function dropStream({ body }: KoaContext): void {
  if (body instanceof Readable) body.once('error', ignore).destroy()
}

/** The rules of Koa's own `respond()`. */
function outgoingOf(koa: KoaContext): Outgoing {
  const { response } = koa
  const { body, status } = response
  if (isBodiless(status)) {
    dropStream(koa)
    return { status, type: undefined, payload: null }
  }
  if (!isEmpty(body)) return { status, type: undefined, payload: payloadOf(body) }
  // Koa would append the reason phrase to a body that was begun by hand; here such a body ends as it is.
  if ((response as unknown as KoaMarks)._explicitNullBody === true || koa.headerSent || koa.method === 'HEAD')
    return { status, type: undefined, payload: null }
  response.set('Content-Type', TEXT_TYPE)
  // HTTP/2 has no reason phrases.
  const phrase = koa.req.httpVersionMajor >= 2 ? '' : response.message
  return { status, type: undefined, payload: phrase || String(status) }
}

/** A value of `ctx.body` as it is sent. @throws what `JSON.stringify` throws, and for a value that is not JSON. */
export function payloadOf(body: unknown): Outgoing['payload'] {
  if (typeof body === 'string' || Buffer.isBuffer(body) || body instanceof Readable) return body
  if (!isPlain(body) && !isSentAsJson(body)) return streamOf(body as object)
  return jsonText(body)
}

/** True for a value of `ctx.body` that is neither text, bytes nor a stream of them. */
export function isSentAsJson(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return typeof body !== 'string'
  if (Buffer.isBuffer(body) || isNodeStream(body)) return false
  // The first use of `Response` makes Node load its fetch: plain objects do not get that far.
  if (!(Symbol.toStringTag in body)) return true
  return !(body instanceof Blob || body instanceof Response || body instanceof ReadableStream)
}

/** The web's own bodies, and streams of other classes that Koa accepts. */
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
