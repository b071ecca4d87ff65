import { Readable } from 'node:stream'
import type Koa from 'koa'
import { jsonText } from '../schema/unsendable.ts'
import type { KoaContext } from './context.ts'
import type { Outgoing } from './outgoing.ts'

/*
 * The values of Koa's `ctx.body`. A value that went through a response schema is JSON text already. It is parsed when
 * Koa code reads `ctx.body`; most middleware never does, and then the text itself is sent.
 */

/** A body as JSON text that no Koa code has read. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** The parts of Koa's response that hold its body. */
interface BodyHolder {
  readonly body: unknown
  /** The value of `body`, in Koa and here. */
  _body?: unknown
}

const TAKES_JSON_TEXT = Symbol('takes JSON text')

/** Makes the responses of an application parse a `JsonText` on the first read of `ctx.body`. */
export function takeJsonText({ response }: Koa): void {
  const base = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(response), 'body')!
  Object.defineProperty(response, TAKES_JSON_TEXT, { value: true })
  Object.defineProperty(response, 'body', {
    ...base,
    get(this: BodyHolder) {
      const { _body } = this
      return _body instanceof JsonText ? (this._body = JSON.parse(_body.text)) : _body
    },
  })
}

/** Returns JSON text as a value for `setBody`. The context of another application gets the parsed value. */
export function readLater({ response }: KoaContext, text: string): unknown {
  // Koa would send a string as text, and null as an empty response.
  if (text.startsWith('"') || text === 'null') return text
  return TAKES_JSON_TEXT in response ? new JsonText(text) : JSON.parse(text)
}

/** Returns the body without parsing it. */
export function bodyOf({ response }: KoaContext): unknown {
  const { _body } = response as BodyHolder
  return _body instanceof JsonText ? _body : response.body
}

/** Sets an object as Koa's setter does, without its checks for streams and web bodies. */
export function setObject({ response, res }: KoaContext, body: unknown): void {
  ;(response as BodyHolder)._body = body
  if (!res.headersSent) res.removeHeader('Content-Length')
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
