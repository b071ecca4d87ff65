import type { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type Koa from 'koa'
import type { AdapterState } from './adapter-state.ts'
import type { Forwarding } from './client-address.ts'
import type { KoaContext } from './context.ts'
import type { Outer } from './outer.ts'
import type { Adapter, RequestContext } from './request-context.ts'

/** Options of Koa's own constructor that an application may set. */
export interface KoaOptions {
  /** Enables `app.koa.currentContext`. `listen()` then serves through Koa, which costs more CPU time per request. */
  readonly asyncLocalStorage?: boolean | AsyncLocalStorage<KoaContext>
}

/** Koa's side of an application. */
export interface OuterApp {
  readonly app: Koa
  /** Serves a request of the server if middleware was added with `app.koa.use`; false without any. */
  serve(req: IncomingMessage, res: ServerResponse): boolean
  /** Creates Koa's side of a request that did not arrive through Koa. */
  enter(ctx: RequestContext): Outer
  /** Emits an error, which the pipeline has already logged, to the application's own `error` listeners. */
  emitError(ctx: RequestContext, error: unknown): void
}

/** Opens Koa's side of an application, at its first use. */
export type OpenOuterApp = (parts: OuterAppParts) => OuterApp

/** Parts of the application that serve the requests which arrive through Koa. */
export interface OuterAppParts {
  readonly options: KoaOptions & { readonly keys: readonly string[] | undefined }
  readonly forwarding: Forwarding
  readonly state: AdapterState
  readonly boot: Boot
  readonly health: Probes
  readonly dispatcher: {
    run(ctx: RequestContext): unknown
    fail(ctx: RequestContext, error: unknown): void
  }
  readonly channel: { run<T>(ctx: RequestContext, dispatch: (ctx: RequestContext) => T): T }
  /** Creates the `ctx` of a request. */
  open(req: IncomingMessage, res: ServerResponse, adapter: Adapter): RequestContext
  /** Counts a request as in flight until the returned function is called. */
  begin(): () => void
}

/** Boots the application when its first request arrives through Koa. */
export interface Boot {
  ready(): Promise<unknown>
  /** Begins to boot and resolves when the routes are known, or when the boot has failed. Never rejects. */
  routesKnown(): Promise<void>
}

/** The responses to probes of health. */
export interface Probes {
  readonly stage: string
  isProbe(req: IncomingMessage): boolean
  mayBeProbe(req: IncomingMessage): boolean
  waitsForStart(req: IncomingMessage): boolean
  respond(req: IncomingMessage): ProbeResponse | Promise<ProbeResponse>
}

/** A response to a probe. */
export interface ProbeResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}
