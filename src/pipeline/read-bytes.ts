import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { BadRequest, type HttpError, PayloadTooLarge, UnsupportedMediaType } from '../errors/http-error.ts'
import type { RequestContext } from '../context/request-context.ts'

const DECODERS: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/** Converts the bytes of a body to a value. */
type Use = (content: Buffer) => unknown

/**
 * Reads and decodes a whole body, calls `use` with its bytes and returns the result: a promise, unless all bytes have
 * already arrived. `limit` counts decoded bytes, so that a small compressed body cannot expand into a large one.
 * @throws PayloadTooLarge above the limit.
 * @throws UnsupportedMediaType for an unknown `Content-Encoding`.
 * @throws BadRequest for a body that is incomplete or cannot be decoded.
 */
export function readBytes(ctx: RequestContext, limit: number, use: Use): unknown {
  const { req } = ctx.internal
  const encoding = encodingOf(req.headers)
  if (encoding === undefined) return readPlain(ctx, limit, use)
  const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined
  if (!decoder)
    throw new UnsupportedMediaType(
      `The content encoding '${encoding}' is not supported. Use gzip, deflate, br or none.`,
      {
        headers: { 'Accept-Encoding': 'gzip, deflate, br' },
      },
    )
  // Collect first: a decoder uses another thread for each chunk, even a small one.
  return collect(req, mostEncoded(limit))
    .then((encoded) => decode(encoded, decoder(), limit))
    .then(use)
}

/** True if the announced length of a body is above the largest size that a limit of its decoded bytes allows. */
export function isAnnouncedTooLarge(headers: IncomingHttpHeaders, limit: number): boolean {
  const length = Number(headers['content-length'])
  return length > limit && (encodingOf(headers) === undefined || length > mostEncoded(limit))
}

function encodingOf(headers: IncomingHttpHeaders): string | undefined {
  const encoding = headers['content-encoding']?.trim().toLowerCase()
  return encoding === 'identity' ? undefined : encoding
}

/** Returns the largest encoded size. Incompressible data grows by its headers and five bytes per block. */
function mostEncoded(limit: number): number {
  return limit + limit / 1000 + 1024
}

async function decode(
  encoded: Buffer,
  decoder: NodeJS.ReadWriteStream & Readable,
  limit: number,
): Promise<Buffer> {
  const content = collect(decoder, limit)
  decoder.end(encoded)
  try {
    return await content
  } finally {
    decoder.destroy()
  }
}

/**
 * Reads a body without encoding. Most bodies arrive in one packet with their headers and are complete by the next tick;
 * they are read directly. Only the others need stream events.
 */
function readPlain(ctx: RequestContext, limit: number, use: Use): unknown {
  const { req } = ctx.internal
  // The bytes already flow to a middleware, so they would be lost by the next tick.
  if (req.complete || req.readableFlowing !== null) return readNow(ctx, limit, use)
  return new Promise((resolve, reject) => {
    process.nextTick(() => {
      try {
        if (req.destroyed) throw clientLeft()
        resolve(readNow(ctx, limit, use))
      } catch (error) {
        reject(error)
      }
    })
  })
}

function readNow(ctx: RequestContext, limit: number, use: Use): unknown {
  const content = takeWhole(ctx)
  if (content === null) return collect(ctx.internal.req, limit).then(use)
  if (content.length > limit) throw tooLarge(limit)
  return use(content)
}

/**
 * Returns the whole body if it is already buffered and unread, else null. The code that sends the response drains the
 * request.
 */
function takeWhole({ internal }: RequestContext): Buffer | null {
  const { req } = internal
  const isWhole = req.complete || req.readableLength === Number(req.headers['content-length'])
  if (!isWhole || req.readableFlowing !== null) return null
  // With a size, because newer Node versions otherwise return one packet at a time.
  const content = req.read(req.readableLength) as Buffer | null
  if (content === null) return null
  internal.isBodyTaken = true
  // Koa sends the response itself, and Node does not drain a request that was partly read.
  if (internal.outer !== undefined) req.resume()
  return content
}

/** Chunks to collect before joining them. Unjoined chunks of one byte need hundreds of times their size in memory. */
const MOST_CHUNKS = 512

/**
 * Resolves with the bytes. Code after the promise keeps the async context of the request; an event has that of the
 * connection.
 */
function collect(stream: Readable, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const joined: Buffer[] = []
    let chunks: Buffer[] = []
    let size = 0
    const stop = (error: HttpError): void => {
      joined.length = chunks.length = 0
      stream.off('data', onData).off('end', onEnd).pause()
      reject(error)
    }
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      if (size > limit) stop(tooLarge(limit))
      else if (chunks.push(chunk) === MOST_CHUNKS) {
        joined.push(Buffer.concat(chunks))
        chunks = []
      }
    }
    const onEnd = (): void => {
      const all = joined.length === 0 ? chunks : [...joined, ...chunks]
      resolve(all.length === 1 ? all[0]! : Buffer.concat(all, size))
    }
    stream.on('data', onData).on('end', onEnd)
    stream.on('error', () =>
      stop(new BadRequest('The body is incomplete or cannot be decoded.', { code: 'malformed_body' })),
    )
    stream.on('aborted', () => stop(clientLeft()))
  })
}

/** The error for a body beyond its limit. */
export function tooLarge(limit: number): PayloadTooLarge {
  return new PayloadTooLarge(`The body is larger than ${limit} bytes.`)
}

/** The error for code that waits for the body of a disconnected client. */
export function clientLeft(): BadRequest {
  return new BadRequest('The client disconnected.', { code: 'malformed_body' })
}
