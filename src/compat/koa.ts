/*
 * The private parts of Koa 3 that the core uses, all in this file. They belong to the response of a context:
 *
 * - `_body`: the value of `ctx.body`. Fallback: Koa's own getter and setter, so that JSON is parsed for each request.
 * - `_explicitStatus`: code has set a status.
 * - `_explicitNullBody`: code has set the body to null. Fallback for both: marks of our own, which the setters of `status`
 *   and `body` set. In the contexts of another application, a status counts as set if it is neither 200 nor 404.
 *
 * Checked by test/compat/koa.test.ts.
 */
import type { Stream } from 'node:stream'
import type Koa from 'koa'

// As in node.ts: `import 'node:http'` loads Node's fetch.
const http = process.getBuiltinModule('node:http')

/** Koa's response with its private parts. */
type PrivateResponse = Koa.Response & {
  _body?: unknown
  _explicitStatus?: boolean
  _explicitNullBody?: boolean
}

/** Context of any Koa application. */
interface WithResponse {
  readonly response: Koa.Response
}

/** A body as JSON text that no Koa code has read. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const TAKES_JSON_TEXT = Symbol('takes JSON text')
const STATUS_SET = Symbol('code has set the status')
const NULL_SET = Symbol('code has set the body to null')

/** Koa's response with marks of our own. */
interface MarkedResponse {
  [STATUS_SET]?: boolean
  [NULL_SET]?: boolean
}

/** True if Koa has no marks for what code has set. */
let lacksMarks = false

/**
 * Makes the responses of an application parse a `JsonText` on the first read of `ctx.body`. Most middleware never reads
 * it, and then the text itself is sent. If this version of Koa has other private parts, a process warning reports it.
 */
export function takeJsonText(app: Koa): void {
  const fault = findKoaFault(app)
  const isKnown = lacksMarks
  lacksMarks = fault !== undefined
  if (lacksMarks) keepMarks(app)
  if (isKnown && lacksMarks) return
  if (fault !== undefined) {
    process.emitWarning(
      `This version of Koa differs from 3.3 in ${fault}. Responses with Koa middleware take longer.`,
      { code: 'KOA_DIFFERS' },
    )
    return
  }
  const { response } = app
  hearStreams(app)
  Object.defineProperties(response, {
    [TAKES_JSON_TEXT]: { value: true },
    body: {
      get(this: PrivateResponse) {
        const { _body } = this
        return _body instanceof JsonText ? (this._body = JSON.parse(_body.text)) : _body
      },
    },
  })
}

/** Without a listener, the error of a stream in `ctx.body` would end the process before the stream is sent. */
export function hearStreams({ response }: { readonly response: object }): void {
  beforeSet(response, 'body', hear)
}

/** A stream that only emits its error would stay open. */
function hear(_response: unknown, body: unknown): void {
  const { pipe, on } = (body ?? {}) as Partial<Stream>
  if (typeof pipe === 'function' && typeof on === 'function')
    on.call(body, 'error', (error) => (body as { destroy?(error: unknown): void }).destroy?.(error))
}

/** Makes the public setters of a response set the marks. */
function keepMarks({ response }: Koa): void {
  beforeSet(response, 'status', (own) => (own[STATUS_SET] = true))
  beforeSet(response, 'body', (own, value) => {
    hear(own, value)
    if (value === null) own[NULL_SET] = true
  })
  Object.assign(response, { [STATUS_SET]: false, [NULL_SET]: false })
}

/** Calls `act` before the setter of a response. */
function beforeSet(
  response: object,
  name: 'status' | 'body',
  act: (response: MarkedResponse, value: unknown) => void,
): void {
  const base = Object.getPrototypeOf(response) as object
  Object.defineProperty(response, name, {
    configurable: true,
    get(this: object): unknown {
      return Reflect.get(base, name, this)
    },
    set(this: MarkedResponse, value: unknown) {
      act(this, value)
      Reflect.set(base, name, value, this)
    },
  })
}

/** Finds the first private part that an application's Koa lacks. */
export function findKoaFault(app: Koa): string | undefined {
  try {
    const response = sampleResponse(app)
    const body = {}
    response._body = body
    if (response.body !== body || !hasAccessor(app)) return 'the value of ctx.body'
    response.status = 201
    if (response._explicitStatus !== true) return 'the mark of a status'
    response.body = null
    return response._explicitNullBody === true ? undefined : 'the mark of an empty body'
  } catch {
    return 'its contexts'
  }
}

function sampleResponse(app: Koa): PrivateResponse {
  const req = new http.IncomingMessage(undefined as never)
  return app.createContext(req, new http.ServerResponse(req)).response
}

function hasAccessor({ response }: Koa): boolean {
  const base = Object.getPrototypeOf(response) as object
  return Object.getOwnPropertyDescriptor(base, 'body')?.set !== undefined
}

/** Returns JSON text as a value for `ctx.body`. The context of another application gets the parsed value. */
export function readLater({ response }: WithResponse, text: string): unknown {
  // Koa would send a string as text, and null as an empty response.
  if (text.startsWith('"') || text === 'null') return text
  return TAKES_JSON_TEXT in response ? new JsonText(text) : JSON.parse(text)
}

/** Returns the body without parsing it. */
export function bodyOf({ response }: WithResponse): unknown {
  const { _body } = response as PrivateResponse
  return _body instanceof JsonText ? _body : response.body
}

/** Sets an object as Koa's setter does, without its checks for streams and web bodies. */
export function setObject({ response }: WithResponse, body: unknown): void {
  if (lacksMarks) {
    response.body = body
    return
  }
  ;(response as PrivateResponse)._body = body
  if (!response.headerSent) response.res.removeHeader('Content-Length')
}

/** True if code has set a status, or Koa has set one for a body. */
export function hasExplicitStatus({ response }: WithResponse): boolean {
  if (STATUS_SET in response) return (response as MarkedResponse)[STATUS_SET] === true
  if (lacksMarks) return response.status !== 200 && response.status !== 404
  return (response as PrivateResponse)._explicitStatus === true
}

/** True if code has set the body to null. */
export function hasExplicitNull({ response }: WithResponse): boolean {
  return (
    (response as PrivateResponse)._explicitNullBody === true ||
    (response as MarkedResponse)[NULL_SET] === true
  )
}
