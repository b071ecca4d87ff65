import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Credential } from '../contracts/authenticator.ts'
import type { Logger } from '../contracts/logger.ts'
import type { Outages } from '../contracts/outages.ts'
import type { User } from '../contracts/user.ts'
import { fullMediaType } from './full-media-type.ts'
import { readQuery } from './read-query.ts'
import { requestId } from './request-id.ts'
import { createCookies, type CookieSettings, type RequestCookies } from './request-cookies.ts'
import { createAbort, type OpenRequests } from './request-signal.ts'
import type { Context, KoaContext, RequestHeaders, RequestScope } from './context.ts'
import type { CredentialSource } from './credential.ts'
import { locationOf } from './location.ts'
import { logFieldsOf, type Observation } from './observation.ts'
import { originForm } from './origin-form.ts'
import { privateAdapter } from './private-adapter.ts'
import type { BegunResponse, Outgoing } from './outgoing.ts'
import type { Outer } from './outer.ts'
import { type ErrorExplainer, statusAfter } from './status-after.ts'
import type { Takeover } from './takeover.ts'

/** The state that the contexts of one application share. */
export interface ContextRuntime extends ErrorExplainer {
  readonly logger: Logger
  readonly outages: Outages
  /** Work that ends when the application begins to close. */
  readonly open: OpenRequests
  findCredential(request: CredentialSource): Credential | null
  readonly requestIdHeader: string
  readonly cookies: CookieSettings
  clientAddress(req: IncomingMessage): string
  createScope(ctx: RequestContext): RequestScope
  createServices(ctx: RequestContext): Readonly<Record<string, unknown>>
  /** Creates the Koa context of a request. */
  enterOuter(ctx: RequestContext): Outer
  /** Emits an error to the `error` listeners of `app.koa`, as Koa would. */
  emitError(ctx: RequestContext, error: unknown): void
}

/** Sends responses: the direct adapter writes to Node's response, the Koa adapter to the Koa context. */
export interface Adapter {
  send(ctx: RequestContext, outgoing: Outgoing): void
  /** Sets the headers of every response if outer Koa code sends it instead of `send`. */
  mark?(ctx: RequestContext): void
}

/** Converts a handler's value to a response. Each route has its own. */
export interface Prepare {
  (ctx: RequestContext, value: unknown): Outgoing | Promise<Outgoing>
  readonly hasSchemas?: true
  /** Outside production: refuses values that JSON would hide inside a value that Koa middleware gets unchanged. */
  readonly check?: (value: unknown) => void
  /** True if the requests of the route have no log line. */
  readonly isQuiet?: true
  /** On a guarded route: ends a stream, or a connection of another protocol, with the session of its request. */
  readonly endWithSession?: (ctx: RequestContext, outgoing: Outgoing) => void
  /** Place of the route's declaration: its file, its router or its brick. */
  readonly origin?: string
}

const NO_PARAMS = Object.freeze(Object.create(null) as Record<string, string>)

/** The `ctx` of a request. Each application has its own subclass, whose prototype has the members of its bricks. */
export class RequestContext {
  readonly method: string
  readonly url: string
  readonly path: string
  route = ''
  user: User | null = null
  body: unknown = undefined
  params: unknown = NO_PARAMS
  /** State of the pipeline, not for handlers. */
  internal: Internal

  constructor(runtime: ContextRuntime, req: IncomingMessage, res: ServerResponse, adapter: Adapter) {
    const url = originForm(req.url ?? '/')
    const mark = url.indexOf('?')
    this.method = req.method ?? 'GET'
    this.url = url
    this.path = mark === -1 ? url : url.slice(0, mark)
    this.internal = new Internal(runtime, req, res, adapter)
  }

  get id(): string {
    return (this.internal.id ??= requestId(this.internal.req.headers[this.internal.runtime.requestIdHeader]))
  }

  get log(): Logger {
    return (this.internal.log ??= this.internal.runtime.logger.child(logFieldsOf(this)))
  }

  get ip(): string {
    return (this.internal.ip ??= this.internal.runtime.clientAddress(this.internal.req))
  }

  get query(): unknown {
    return (this.internal.query ??= this.rawQuery)
  }

  get headers(): unknown {
    return this.internal.headers ?? this.internal.req.headers
  }

  get rawHeaders(): RequestHeaders {
    return this.internal.req.headers
  }

  get rawQuery(): Record<string, string | string[] | undefined> {
    return readQuery(this.url.slice(this.path.length + 1))
  }

  get credential(): Credential | null {
    const { internal } = this
    if (internal.credential === undefined) {
      internal.credential = internal.runtime.findCredential(this)
      if (internal.credential?.source === 'query')
        internal.adapter = privateAdapter(internal.adapter, internal.res)
    }
    return internal.credential
  }

  get token(): string | null {
    return this.credential?.token ?? null
  }

  get signal(): AbortSignal {
    const { internal } = this
    return (internal.abort ??= createAbort(internal.runtime.open, internal.req, internal.res)).signal
  }

  get status(): number {
    const { internal } = this
    return internal.ended === 'no' ? internal.status || 200 : statusAfter(internal)
  }

  set status(status: number) {
    if (!Number.isInteger(status) || status < 200 || status > 599)
      throw new RangeError(`ctx.status is a status from 200 to 599, not the ${typeof status} ${status}`)
    this.internal.status = status
    this.internal.ended = 'no'
  }

  get type(): string {
    const type = this.internal.res.getHeader('content-type')
    return typeof type === 'string' ? type : ''
  }

  set type(type: string) {
    this.internal.res.setHeader('Content-Type', fullMediaType(type))
  }

  get cookies(): RequestCookies {
    const { req, res, runtime } = this.internal
    return (this.internal.cookies ??= createCookies(req, res, runtime.cookies))
  }

  get scope(): RequestScope {
    return (this.internal.scope ??= this.internal.runtime.createScope(this))
  }

  get services(): Readonly<Record<string, unknown>> {
    return (this.internal.services ??= this.internal.runtime.createServices(this))
  }

  get koa(): KoaContext {
    const { internal } = this
    return (internal.outer ??= internal.runtime.enterOuter(this)).koa
  }

  /** Representation for logs and consoles, without headers and query, because they may contain credentials. */
  toJSON(): object {
    return { method: this.method, path: this.path, route: this.route, id: this.id }
  }

  [Symbol.for('nodejs.util.inspect.custom')](): object {
    return this.toJSON()
  }

  get(name: string): string | undefined {
    const value = this.internal.req.headers[name.toLowerCase()]
    return Array.isArray(value) ? value.join(', ') : value
  }

  set(name: string, value: string | readonly string[]): void {
    this.internal.res.setHeader(name, value)
  }

  append(name: string, value: string | readonly string[]): void {
    this.internal.res.appendHeader(name, value)
  }

  redirect(url: string, status = 302): void {
    if (status < 300 || status > 399)
      throw new RangeError(`ctx.redirect takes a status from 300 to 399, not ${status}`)
    this.status = status
    this.internal.res.setHeader('Location', locationOf(url))
  }
}

/** State of one request that handlers do not see. */
export class Internal {
  readonly runtime: ContextRuntime
  req: IncomingMessage
  res: ServerResponse
  adapter: Adapter
  status = 0
  /** True if the whole body was read from the request in one call, so that no byte is left. */
  isBodyTaken = false
  /** True for a body of JSON without the escapes that `refuseOddText` searches for. */
  isBodyPlain = false
  id: string | undefined = undefined
  ip: string | undefined = undefined
  log: Logger | undefined = undefined
  query: unknown = undefined
  headers: unknown = undefined
  credential: Credential | null | undefined = undefined
  /** The error for a credential that could not be evaluated; a guarded route throws it. */
  refusal: unknown = undefined
  abort: AbortController | undefined = undefined
  observation: Observation | undefined = undefined
  cookies: RequestCookies | undefined = undefined
  scope: RequestScope | undefined = undefined
  services: Readonly<Record<string, unknown>> | undefined = undefined
  members: Record<string, unknown> | undefined = undefined
  /** True if the handler and all middleware have settled; the response may still be in progress. */
  isSettled = false
  onSettled: (() => void) | undefined = undefined
  /** Koa's side, once Koa code has seen the request. */
  outer: Outer | undefined = undefined
  prepare: Prepare | undefined = undefined
  begun: BegunResponse | undefined = undefined
  /** Uses the connection for another protocol if the response is 101. */
  takeover: Takeover | undefined = undefined
  /** Result inside the current middleware, for `ctx.status`: not ended, a value, or an error, which `end` has. */
  ended: 'no' | 'value' | 'error' = 'no'
  end: unknown = undefined

  constructor(runtime: ContextRuntime, req: IncomingMessage, res: ServerResponse, adapter: Adapter) {
    this.runtime = runtime
    this.req = req
    this.res = res
    this.adapter = adapter
  }
}

/** Returns the same object, with the type that application code sees. */
export function publicContext(ctx: RequestContext): Context {
  return ctx as unknown as Context
}
