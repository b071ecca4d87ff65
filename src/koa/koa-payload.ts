import { Readable } from 'node:stream'
import { JsonText } from '../compat/koa.ts'
import type { Outgoing } from '../context/outgoing.ts'
import { isLiteral } from '../pipeline/render-raw.ts'
import { jsonText } from '../schema/unsendable.ts'

/**
 * Converts a value of `ctx.body` to a payload.
 * @throws errors of `JSON.stringify`, and for a value that is not JSON.
 */
export function payloadOf(body: unknown): Outgoing['payload'] {
  if (body instanceof JsonText) return body.text
  if (typeof body === 'string' || Buffer.isBuffer(body) || body instanceof Readable) return body
  if (!isLiteral(body) && !isSentAsJson(body)) return streamOf(body as object)
  return jsonText(body)
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
  // `wrap` would wait for the events of a stream that has closed.
  if (isDestroyed(body)) return new Readable().destroy()
  if (isNodeStream(body)) return new Readable({ objectMode: false }).wrap(body)
  if (body instanceof Blob) return Readable.from(body.stream(), { objectMode: false })
  const source = body instanceof Response ? (body.body ?? []) : (body as ReadableStream)
  return Readable.from(source, { objectMode: false })
}

function isNodeStream(body: object): body is NodeJS.ReadableStream {
  const { pipe, on, readable } = body as { pipe?: unknown; on?: unknown; readable?: unknown }
  return typeof pipe === 'function' && typeof on === 'function' && (readable === true || isDestroyed(body))
}

const isDestroyed = (body: object): boolean => 'destroyed' in body && body.destroyed === true
