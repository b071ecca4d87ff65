/*
 * A connection of another protocol may live for days, and its `ctx` as long. Node's request and response would cost 3 KiB
 * for each, so `ctx` keeps small objects in their place. Measured by bench/realtime.ts.
 */
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isAwaited } from '../support/when-closed.ts'
import type { Adapter, RequestContext } from './request-context.ts'

/** Replaces request and response of a context whose response is sent. Its headers can still be read. */
export function forgetRequest(ctx: RequestContext): void {
  const { internal } = ctx
  // Koa's context has both, and code that waits for the end of the response is called by it.
  if (internal.outer !== undefined || isAwaited(internal.res)) return
  // Evaluated while the request is complete.
  void [ctx.id, ctx.ip, ctx.credential]
  // The members that are read after a response.
  internal.req = new SmallRequest(internal.req) as unknown as IncomingMessage
  internal.res = new SmallResponse(internal.req.socket) as unknown as ServerResponse
  internal.adapter = NO_ADAPTER
}

const NO_ADAPTER: Adapter = { send: () => undefined }

class SmallRequest {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly socket: IncomingMessage['socket']
  readonly #headers: string

  constructor({ method, url, socket, headers }: IncomingMessage) {
    this.method = method
    this.url = url
    this.socket = socket
    // Its bytes, because JSON.stringify makes a string of many parts.
    this.#headers = Buffer.from(JSON.stringify(headers), 'latin1').toString('latin1')
  }

  get headers(): IncomingMessage['headers'] {
    return JSON.parse(this.#headers) as IncomingMessage['headers']
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
