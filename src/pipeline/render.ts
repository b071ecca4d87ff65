import { Readable } from 'node:stream'
import { isBodiless, type Outgoing } from '../context/outgoing.ts'
import type { RequestContext } from '../context/request-context.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'
const TEXT_TYPE = 'text/plain; charset=utf-8'
const BYTES_TYPE = 'application/octet-stream'

/**
 * What a value becomes without a schema: objects, arrays, numbers and booleans are JSON, text is `text/plain` and never
 * sniffed as HTML, bytes and streams stay as they are.
 * @throws TypeError for a value that has no representation (a function, a symbol, a bigint, a circular object).
 */
export function render(ctx: RequestContext, status: number, value: unknown): Outgoing {
  if (isBodiless(status) || value === undefined || value === null)
    return { status, type: undefined, payload: discard(value) }
  if (typeof value === 'object') return renderObject(ctx, status, value)
  if (typeof value === 'string') return { status, type: TEXT_TYPE, payload: value }
  if (typeof value === 'number' || typeof value === 'boolean')
    return { status, type: JSON_TYPE, payload: JSON.stringify(value) }
  throw new TypeError(`A handler returned a ${typeof value}, which has no representation in a response.`)
}

function renderObject(ctx: RequestContext, status: number, value: object): Outgoing {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== Array.prototype && prototype !== null) {
    const special = renderSpecial(ctx, status, value)
    if (special) return special
  }
  const text = JSON.stringify(value) as string | undefined
  if (text === undefined) throw new TypeError('A handler returned an object whose toJSON() gives no JSON.')
  return { status, type: JSON_TYPE, payload: text }
}

function renderSpecial(ctx: RequestContext, status: number, value: object): Outgoing | undefined {
  if (value instanceof Uint8Array) return { status, type: BYTES_TYPE, payload: asBuffer(value) }
  if (value instanceof Readable) return { status, type: BYTES_TYPE, payload: value }
  // The first look at `Response` makes Node load its fetch, 20 ms and 9 MB: an application's own objects have no tag.
  if (!(Symbol.toStringTag in value) && !(Symbol.asyncIterator in value)) return undefined
  if (value instanceof Response) return renderResponse(ctx, value)
  if (value instanceof Blob)
    return { status, type: value.type || BYTES_TYPE, payload: fromWeb(value.stream()) }
  if (value instanceof ReadableStream) return { status, type: BYTES_TYPE, payload: fromWeb(value) }
  if (value instanceof ArrayBuffer) return { status, type: BYTES_TYPE, payload: Buffer.from(value) }
  if (Symbol.asyncIterator in value)
    return {
      status,
      type: BYTES_TYPE,
      payload: Readable.from(value as AsyncIterable<unknown>, { objectMode: false }),
    }
  return undefined
}

/** Headers of a connection, not of a message (RFC 9110 §7.6.1); those of an upstream's connection are not ours. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'trailer',
  'upgrade',
])

/** Status, headers and body of a web `Response` are taken over; `ctx.status` does not change them. */
function renderResponse(ctx: RequestContext, response: Response): Outgoing {
  // What `fetch` hands on is decoded already, and so neither encoded nor as long as its headers say.
  const isDecoded = response.url !== '' && response.headers.has('content-encoding')
  for (const [name, value] of response.headers)
    if (name === 'set-cookie') ctx.append(name, value)
    else if (!HOP_BY_HOP.has(name) && !(isDecoded && /^content-(encoding|length)$/.test(name)))
      ctx.set(name, value)
  if (response.body === null) return { status: response.status, type: undefined, payload: null }
  return { status: response.status, type: BYTES_TYPE, payload: fromWeb(response.body) }
}

function fromWeb(stream: ReadableStream): Readable {
  return Readable.fromWeb(stream)
}

/** The same bytes as the class that Koa knows; it would render any other typed array as JSON. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** A stream that will not be sent is closed, so that what it reads from is let go. */
export function discard(value: unknown): null {
  if (typeof value !== 'object' || value === null) return null
  if (value instanceof Readable) value.once('error', ignore).destroy()
  const web = value instanceof Response ? value.body : value
  if (web instanceof ReadableStream && !web.locked) web.cancel().catch(ignore)
  return null
}

function ignore(): void {}
