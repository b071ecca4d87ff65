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

/**
 * Reads a whole body, undoes its `Content-Encoding`, gives `use` the bytes and resolves to what that returns. `limit`
 * counts decoded bytes, so that a small compressed body cannot unfold into a large one.
 * @throws PayloadTooLarge, UnsupportedMediaType for an unknown `Content-Encoding`, BadRequest for a body that breaks off or does not decode.
 */
export function readBytes(
  ctx: RequestContext,
  limit: number,
  use: (content: Buffer) => unknown,
): Promise<unknown> {
  const { req } = ctx.internal
  const encoding = req.headers['content-encoding']?.trim().toLowerCase()
  if (encoding === undefined || encoding === 'identity') return collect(req, limit, use)
  const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined
  if (!decoder)
    throw new UnsupportedMediaType(
      `The content encoding '${encoding}' is not read here; send gzip, deflate, br or none.`,
      {
        headers: { 'Accept-Encoding': 'gzip, deflate, br' },
      },
    )
  const decoded = decoder()
  req.once('error', (error) => decoded.destroy(error)).pipe(decoded)
  return collect(decoded, limit, use).catch((error: unknown) => {
    req.unpipe(decoded)
    decoded.destroy()
    throw error
  })
}

function collect(stream: Readable, limit: number, use: (content: Buffer) => unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    let size = 0
    const stop = (error: HttpError): void => {
      chunks = []
      stream.off('data', onData).off('end', onEnd).pause()
      reject(error)
    }
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      if (size > limit) stop(new PayloadTooLarge(`The body is larger than ${limit} bytes.`))
      else chunks.push(chunk)
    }
    const onEnd = (): void => {
      let result: unknown
      try {
        result = use(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size))
      } catch (error) {
        reject(error)
        return
      }
      resolve(result)
    }
    // A request is read by one promise and four listeners: whatever lies between its bytes and its handler is felt.
    stream.on('data', onData).on('end', onEnd)
    stream.on('error', () =>
      stop(new BadRequest('The body broke off or does not decode.', { code: 'malformed_body' })),
    )
    stream.on('aborted', () => stop(clientLeft()))
  })
}

/** Nobody reads it, but what waits for the body must not wait for ever. */
export function clientLeft(): BadRequest {
  return new BadRequest('The client went away.', { code: 'malformed_body' })
}
