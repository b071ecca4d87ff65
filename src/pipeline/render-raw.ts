import { Readable } from 'node:stream'
import type { Outgoing } from '../context/outgoing.ts'
import type { RequestContext } from '../context/request-context.ts'

const BYTES_TYPE = 'application/octet-stream'

/**
 * Renders what is sent as it is, never as JSON and never through a schema: bytes, streams, async iterables, a `Blob`, a
 * web `Response`. Undefined for any other object.
 */
export function renderRaw(ctx: RequestContext, status: number, value: object): Outgoing | undefined {
  if (ArrayBuffer.isView(value)) return { status, type: BYTES_TYPE, payload: asBuffer(value) }
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
function asBuffer(bytes: ArrayBufferView): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
