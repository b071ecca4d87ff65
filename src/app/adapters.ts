import type { IncomingMessage, ServerResponse } from 'node:http'
import type Koa from 'koa'
import { compileServices } from '../container/request-services.ts'
import type { ReadRequest } from '../container/request-state.ts'
import { compileForwarding } from '../context/client-address.ts'
import type { KoaContext } from '../context/context.ts'
import { compileCredential } from '../context/credential.ts'
import { linkState } from '../context/koa-state.ts'
import {
  type Adapter,
  publicContext,
  type ContextRuntime,
  type RequestContext,
} from '../context/request-context.ts'
import type { CookieSettings } from '../context/request-cookies.ts'
import { OpenRequests } from '../context/request-signal.ts'
import type { Authenticator } from '../contracts/authenticator.ts'
import { describeError } from '../errors/describe-error.ts'
import { whenClosed } from '../support/when-closed.ts'
import { withDeadline } from '../support/with-deadline.ts'
import type { AssemblyContext } from './boot.ts'
import { credentialRules } from './credential-rules.ts'
import { createKoaApp, type KoaApp } from './koa-app.ts'
import { createKoaAdapter, OWN_MIDDLEWARE, type KoaServe } from './koa-adapter.ts'
import { createDirectAdapter, type AdapterState } from './direct-adapter.ts'
import type { ResolvedOptions } from './options.ts'
import { requestLineWriter } from './logger.ts'
import { createRequestChannel } from './request-channel.ts'
import { reportCompletion, REQUEST_COMPLETED } from './request-completed.ts'
import { createRequestEnds, type RequestEnds } from './request-ends.ts'

/** The request entry points of an application: the direct adapter and the Koa adapter. */
export interface Adapters {
  /** Node's request listener: the direct adapter. */
  readonly handle: (req: IncomingMessage, res: ServerResponse) => void
  /** The Koa application, which uses the Koa adapter. Created on first use. */
  readonly koa: Koa
  /** Closes each connection after its current response, aborts `ctx.signal` and ends event streams of open requests. */
  beginToClose(): void
  /** Counts work as in flight until it settles. */
  track<T>(work: Promise<T>): Promise<T>
  /** Waits at most `timeout` seconds for requests from Koa or `inject`; the server waits for its own requests. */
  drain(timeout: number): Promise<void>
  /** Disposes of the services of open requests. Called when no request can be in flight any more. */
  disposeRequests(timeout: number): Promise<void>
  /** Freezes the state that requests share. Called once everything is assembled. */
  compile(): void
}

/** Koa composes its middleware in `callback()`. The result is cached until middleware is added. */
const callbackOf = (() => {
  const callbacks = new WeakMap<Koa, { readonly size: number; readonly run: ReturnType<Koa['callback']> }>()
  return (koa: Koa): ReturnType<Koa['callback']> => {
    let known = callbacks.get(koa)
    if (known?.size !== koa.middleware.length)
      callbacks.set(koa, (known = { size: koa.middleware.length, run: koa.callback() }))
    return known.run
  }
})()

/** @param ready boots the application when its first request arrives through Koa. */
export function createAdapters(context: AssemblyContext, ready: () => Promise<unknown>): Adapters {
  const { Context } = context.contextClass
  const { dispatcher, events, options } = context
  const { reporter } = options
  const writeLine = options.logRequests ? requestLineWriter(options.logger) : undefined
  const state: AdapterState = { closing: false, reporter, open: new OpenRequests() }
  const ends = createRequestEnds()
  const pending = createPending()
  const channel = createRequestChannel(dispatcher.routeOf)
  const directAdapter = createDirectAdapter(state)
  const forwarding = compileForwarding(options.trustProxy)
  let runtime: ContextRuntime | undefined
  let koa: KoaApp | undefined

  function open(req: IncomingMessage, res: ServerResponse, adapter: Adapter): RequestContext {
    const ctx = new Context(runtime!, req, res, adapter)
    if (writeLine || events.hasListeners(REQUEST_COMPLETED)) reportCompletion(ctx, writeLine, events)
    return ctx
  }

  const koaApp = (): KoaApp => {
    const opener = openerInKoa(open, { ready, begin: pending.begin, state })
    const isMounted = ({ app }: KoaContext): boolean => app !== koa?.app
    const serve = { open: opener, isMounted, dispatcher, channel, state }
    return (koa ??= createKoaApp({ ...options.koa, keys: options.keys }, { serve, forwarding, reporter }))
  }

  return {
    beginToClose: () => beginToClose(state),
    track: pending.track,
    drain: pending.drain,
    disposeRequests: ends.drain,
    handle(req, res) {
      // Middleware added with app.koa.use() wraps the direct adapter's requests too.
      if (koa !== undefined && isServedByKoa(koa.app)) void callbackOf(koa.app)(req, res)
      else void channel.run(open(req, res, directAdapter), dispatcher.dispatch)
    },
    get koa() {
      return koaApp().app
    },
    compile() {
      if (options.koa.asyncLocalStorage) koaApp()
      runtime = createContextRuntime(context, ends, {
        open: state.open,
        clientAddress: forwarding.clientAddress,
        cookies: cookieSettings(options, () => koa?.app.keys),
        createKoaContext: (ctx) => koaApp().createContext(ctx),
        emitError: (ctx, error) => koa?.emitError(ctx, error),
      })
    },
  }
}

type Open = (req: IncomingMessage, res: ServerResponse, adapter: Adapter) => RequestContext

/** Opens requests that come through Koa: the first one boots the application. */
function openerInKoa(
  open: Open,
  own: {
    readonly ready: () => Promise<unknown>
    readonly begin: Pending['begin']
    readonly state: AdapterState
  },
): KoaServe['open'] {
  const adapter = createKoaAdapter(own.state)
  let isBooted = false
  function openNow(koa: KoaContext): RequestContext {
    whenClosed(koa.req, koa.res, own.begin())
    const ctx = open(koa.req, koa.res, adapter)
    ctx.internal.koa = koa
    linkState(koa, ctx)
    return ctx
  }
  async function openWhenReady(koa: KoaContext): Promise<RequestContext | undefined> {
    try {
      await own.ready()
      isBooted = true
    } catch (error) {
      const fields = { err: describeError(error) }
      own.state.reporter.error(fields, 'A request arrived at an application that is not running')
      return undefined
    }
    return openNow(koa)
  }
  // `ready()` rejects when the application is already closed.
  return (koa) => (isBooted && !own.state.closing ? openNow(koa) : openWhenReady(koa))
}

/** True when `listen()` must serve through Koa: middleware was added with `app.koa.use`, or Koa tracks its context. */
function isServedByKoa(app: Koa): boolean {
  return app.middleware.length > OWN_MIDDLEWARE || (app as { ctxStorage?: object }).ctxStorage !== undefined
}

function beginToClose(state: AdapterState): void {
  state.closing = true
  state.open.abortAll()
}

/** Work in flight that the application's own server does not wait for. */
interface Pending extends Pick<Adapters, 'track' | 'drain'> {
  /** Counts work as in flight until the returned function is called. */
  begin(): () => void
}

function createPending(): Pending {
  const pending = new Set<() => void>()
  let onEnd: ((end: () => void) => void) | undefined
  function begin(): () => void {
    const end = (): void => {
      pending.delete(end)
      onEnd?.(end)
    }
    pending.add(end)
    return end
  }
  return {
    begin,
    track(work) {
      const end = begin()
      work.then(end, end)
      return work
    },
    drain(timeout) {
      const left = new Set(pending)
      if (left.size === 0) return Promise.resolve()
      const drained = new Promise<void>((resolve) => {
        onEnd = (end) => {
          if (left.delete(end) && left.size === 0) resolve()
        }
      })
      return withDeadline(drained, timeout).catch(() => undefined)
    },
  }
}

/** Keys set on `app.koa` take precedence over the option `keys`. */
function cookieSettings(
  { environment, keys }: Pick<ResolvedOptions, 'environment' | 'keys'>,
  koaKeys: CookieSettings['keys'],
): CookieSettings {
  return { secure: environment === 'production' ? true : undefined, keys: () => koaKeys() ?? keys }
}

function createContextRuntime(
  context: AssemblyContext,
  ends: RequestEnds,
  own: Pick<ContextRuntime, 'open' | 'cookies' | 'clientAddress' | 'createKoaContext' | 'emitError'>,
): ContextRuntime {
  const { options, container } = context
  const requests = compileServices(container, { read: READ_REQUEST, watchEnd: ends.watch })
  const authenticator = container.has('authenticator')
    ? (container.cradle['authenticator'] as Authenticator)
    : undefined
  return {
    logger: options.logger,
    ...own,
    findCredential: compileCredential(credentialRules(options, authenticator)),
    requestIdHeader: 'x-request-id',
    createScope: (ctx) => requests.scope(ctx.services),
    createServices: requests.services,
  }
}

const READ_REQUEST: ReadRequest<RequestContext> = {
  ctx: publicContext,
  user: (ctx) => ctx.user,
  requestId: (ctx) => ctx.id,
}
