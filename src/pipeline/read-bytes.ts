import type { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { BadRequest, type HttpError, PayloadTooLarge, UnsupportedMediaType } from '../errors/http-error.ts'
import { stackless } from '../errors/stackless.ts'
import type { RequestContext } from '../context/request-context.ts'

const DECODERS: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/** What is done with the bytes of a body. */
type Use = (content: Buffer) => unknown

/**
 * Reads a whole body, undoes its `Content-Encoding`, gives `use` the bytes and answers with what that returns, in a
 * promise unless all bytes are there already. `limit` counts decoded bytes, so that a small compressed body cannot
 * unfold into a large one.
 * @throws PayloadTooLarge, UnsupportedMediaType for an unknown `Content-Encoding`, BadRequest for a body that breaks off or does not decode.
 */
export function readBytes(ctx: RequestContext, limit: number, use: Use): unknown {
  const { req } = ctx.internal
  const encoding = req.headers['content-encoding']?.trim().toLowerCase()
  if (encoding === undefined || encoding === 'identity') return readPlain(ctx, limit, use)
  const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined
  if (!decoder)
    throw stackless(
      UnsupportedMediaType,
      `The content encoding '${encoding}' is not read here; send gzip, deflate, br or none.`,
      {
        headers: { 'Accept-Encoding': 'gzip, deflate, br' },
      },
    )
  // First as a whole: each small chunk that a decoder is given costs it a turn in another thread.
  return collect(req, mostEncoded(limit))
    .then((encoded) => decode(encoded, decoder(), limit))
    .then(use)
}

/** What does not compress becomes larger, by its headers and by five bytes for each block. */
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
 * Most bodies come in one packet with their head, and are there by the next tick. Those are taken as they are; only the
 * others are worth a stream's events.
 */
function readPlain(ctx: RequestContext, limit: number, use: Use): unknown {
  const { req } = ctx.internal
  // Bytes already flow to a middleware that listens: by the next tick they would be gone.
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

/** Returns the whole body if it is already buffered and unread, else null. Whoever sends the response reads on to the end. */
function takeWhole({ internal }: RequestContext): Buffer | null {
  const { req } = internal
  const isWhole = req.complete || req.readableLength === Number(req.headers['content-length'])
  if (!isWhole || req.readableFlowing !== null) return null
  // A size, because newer Nodes otherwise give one packet at a time.
  const content = req.read(req.readableLength) as Buffer | null
  if (content === null) return null
  internal.isBodyTaken = true
  // Koa sends the response by itself, and Node does not read on after somebody has read.
  if (internal.koa !== undefined) req.resume()
  return content
}

/** So many chunks are joined as they come: kept one by one, those of one byte take hundreds of times their size. */
const MOST_CHUNKS = 512

/** What is done with the bytes follows on this promise, and not in an event, whose asynchronous context is the connection's. */
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
      stop(stackless(BadRequest, 'The body broke off or does not decode.', { code: 'malformed_body' })),
    )
    stream.on('aborted', () => stop(clientLeft()))
  })
}

/** What a body beyond its limit is answered with. */
export function tooLarge(limit: number): PayloadTooLarge {
  return stackless(PayloadTooLarge, `The body is larger than ${limit} bytes.`)
}

/** Nobody reads it, but what waits for the body must not wait for ever. */
export function clientLeft(): BadRequest {
  return stackless(BadRequest, 'The client went away.', { code: 'malformed_body' })
}
