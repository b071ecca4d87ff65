import { Readable } from 'node:stream'
import { types } from 'node:util'
import type { Outgoing } from '../context/outgoing.ts'
import type { RequestContext } from '../context/request-context.ts'
import { describeThrown } from '../errors/describe-error.ts'

const BYTES_TYPE = 'application/octet-stream'

/** True for an object literal or an array, which is JSON; async iterables can be object literals too. */
export function isLiteral(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return (
    (prototype === Object.prototype || prototype === Array.prototype || prototype === null) &&
    !(Symbol.asyncIterator in value)
  )
}

/**
 * Renders values that are sent unchanged, without JSON and without a schema: bytes, streams, async iterables, a `Blob`,
 * a web `Response`. Returns undefined for any other object.
 */
export function renderRaw(ctx: RequestContext, status: number, value: object): Outgoing | undefined {
  if (ArrayBuffer.isView(value)) return { status, type: BYTES_TYPE, payload: asBuffer(value) }
  if (value instanceof Readable) return { status, type: BYTES_TYPE, payload: value }
  // The first use of `Response` makes Node load fetch (20 ms, 9 MB), so check for a tag, which plain objects lack.
  if (!(Symbol.toStringTag in value) && !(Symbol.asyncIterator in value)) return undefined
  if (value instanceof Response) return renderResponse(ctx, value)
  if (value instanceof Blob)
    return { status, type: value.type || BYTES_TYPE, payload: Readable.fromWeb(value.stream()) }
  if (value instanceof ReadableStream) return { status, type: BYTES_TYPE, payload: Readable.fromWeb(value) }
  if (types.isAnyArrayBuffer(value)) return { status, type: BYTES_TYPE, payload: Buffer.from(value) }
  if (Symbol.asyncIterator in value)
    return { status, type: BYTES_TYPE, payload: fromChunks(value as AsyncIterable<unknown>) }
  return undefined
}

/** Makes a stream of strings and bytes. Node's error for another chunk names neither the place nor the remedy. */
function fromChunks(chunks: AsyncIterable<unknown>): Readable {
  const source = { [Symbol.asyncIterator]: () => checked(chunks[Symbol.asyncIterator]()) }
  return Readable.from(source, { objectMode: false })
}

/** An iterator with the same methods, which throw errors that Node can read. Its `next` refuses other values. */
function checked(source: AsyncIterator<unknown>): AsyncIterator<unknown> {
  const readable = (call: () => Promise<IteratorResult<unknown>>): Promise<IteratorResult<unknown>> =>
    (async () => call())().catch((error: unknown) => {
      throw errorOf(error)
    })
  return {
    async next() {
      const result = await readable(() => source.next())
      if (result.done !== true && typeof result.value !== 'string' && !ArrayBuffer.isView(result.value))
        throw new TypeError(WRONG_CHUNK)
      return result
    },
    ...(source.return && { return: (value?: unknown) => readable(() => source.return!(value)) }),
    ...(source.throw && { throw: (error?: unknown) => readable(() => source.throw!(error)) }),
  }
}

/** Node reads the stack of an error of a stream, and takes null for the end of one whose client has left. */
export function errorOf(thrown: unknown): Error {
  try {
    if (thrown instanceof Error && thrown.stack !== null) return thrown
    return new Error(describeThrown(thrown))
  } catch {
    return new Error('The source of a response threw an error that cannot be read.')
  }
}

const WRONG_CHUNK =
  'An async iterable of a response yielded a value that is neither a string nor bytes. Yield strings, such as ' +
  'JSON.stringify(value) + "\\n".'

/** Headers of a connection, not of a message (RFC 9110 §7.6.1). Those of an upstream connection are not copied. */
export const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'http2-settings',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'trailer',
  'upgrade',
])

/** Uses the status, headers and body of a web `Response`; `ctx.status` does not change them. */
function renderResponse(ctx: RequestContext, response: Response): Outgoing {
  // `fetch` has already decoded the body, so its encoding and length headers are wrong.
  const isDecoded = response.url !== '' && response.headers.has('content-encoding')
  for (const [name, value] of response.headers)
    if (name === 'set-cookie') ctx.append(name, value)
    else if (!HOP_BY_HOP.has(name) && !(isDecoded && /^content-(encoding|length)$/.test(name)))
      ctx.set(name, value)
  if (response.body === null) return { status: response.status, type: undefined, payload: null }
  return { status: response.status, type: BYTES_TYPE, payload: Readable.fromWeb(response.body) }
}

/** Wraps the bytes in a Buffer, because Koa would render any other typed array as JSON. */
function asBuffer(bytes: ArrayBufferView): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
