/*
 * A connection of another protocol may live for days, and its `ctx` as long. Node's request and response would cost 3 KiB
 * for each, so `ctx` keeps small objects in their place. Measured by bench/realtime.ts.
 */
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { ignore } from '../support/ignore.ts'
import { isAwaited } from '../support/when-closed.ts'
import { Internal, type Adapter, type RequestContext } from './request-context.ts'

/** Replaces request and response of a context whose response is sent. Its headers can still be read. */
export function forgetRequest(ctx: RequestContext): void {
  const { internal } = ctx
  // Koa's context has both, and code that waits for the end of the response is called by it.
  if (internal.outer !== undefined || isAwaited(internal.res)) return
  // Evaluated while the request is complete.
  void [ctx.id, ctx.ip, ctx.credential]
  ctx.internal = new SmallInternal(internal) as unknown as Internal
}

const NOTHING: Adapter = { send: () => undefined }
/** Stored once: the values that most requests never change. */
const INITIAL = new Internal(
  ...([undefined, undefined, undefined, NOTHING] as unknown as [never, never, never, never]),
)

/** The state of a request as far as it has changed, with objects in place of request and response when they are read. */
class SmallInternal {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly socket: IncomingMessage['socket']
  readonly headerText: string
  response: SmallResponse | undefined = undefined

  constructor({ req, res: _res, adapter: _adapter, observation, ...others }: Internal) {
    this.method = req.method
    this.url = req.url
    this.socket = req.socket
    // Its bytes, because JSON.stringify makes a string of many parts.
    this.headerText = Buffer.from(JSON.stringify(req.headers), 'latin1').toString('latin1')
    for (const name of Object.keys(others) as (keyof typeof others)[])
      if (others[name] !== INITIAL[name]) Object.assign(this, { [name]: others[name] })
    // What observes a request has seen its end. Its fields are those of every log line.
    if (observation !== undefined)
      Object.assign(this, {
        observation: { request: { logFields: observation.request.logFields }, fail: ignore },
      })
  }

  get req(): IncomingMessage {
    return new SmallRequest(this) as unknown as IncomingMessage
  }

  get res(): ServerResponse {
    return (this.response ??= new SmallResponse(this.socket)) as unknown as ServerResponse
  }
}
Object.setPrototypeOf(SmallInternal.prototype, INITIAL)

/** The members that are read after a response. */
class SmallRequest {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly socket: IncomingMessage['socket']
  readonly headers: IncomingMessage['headers']

  constructor({ method, url, socket, headerText }: SmallInternal) {
    this.method = method
    this.url = url
    this.socket = socket
    this.headers = JSON.parse(headerText) as IncomingMessage['headers']
  }
}

/** A response without an emitter until something waits for its end. */
class SmallResponse {
  destroyed = false
  readonly socket: IncomingMessage['socket']
  #emitter: EventEmitter | undefined = undefined

  constructor(socket: IncomingMessage['socket']) {
    this.socket = socket
  }

  on(event: string, act: () => void): this {
    ;(this.#emitter ??= new EventEmitter()).on(event, act)
    return this
  }

  once(event: string, act: () => void): this {
    ;(this.#emitter ??= new EventEmitter()).once(event, act)
    return this
  }

  emit(event: string): void {
    this.#emitter?.emit(event)
  }

  setHeader(): never {
    throw new Error('The response is sent, and the connection has another protocol.')
  }

  appendHeader(): never {
    return this.setHeader()
  }
}

Object.assign(SmallResponse.prototype, {
  headersSent: true,
  writableEnded: true,
  writableFinished: true,
  closed: false,
})
