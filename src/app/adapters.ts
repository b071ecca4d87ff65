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
import type { Authenticator } from '../contracts/authenticator.ts'
import { describeError } from '../errors/describe-error.ts'
import { whenClosed } from '../support/when-closed.ts'
import type { AssemblyContext } from './assembly-context.ts'
import { credentialRules } from './credential-rules.ts'
import { sendHealth } from './health/health.ts'
import { type Boot, createKoaProbes } from './health/koa-probes.ts'
import { createKoaApp, type KoaApp } from './koa-app.ts'
import { createKoaAdapter, OWN_MIDDLEWARE, type KoaServe } from './koa-adapter.ts'
import { createDirectAdapter, type AdapterState } from './direct-adapter.ts'
import type { ResolvedOptions } from './options.ts'
import { createPending, type Pending } from './pending.ts'
import { requestLineWriter } from './logger.ts'
import { createRequestChannel } from './request-channel.ts'
import { reportCompletion, REQUEST_COMPLETED } from './request-completed.ts'
import { createStages, type Stages } from './stages.ts'
import { createRequestEnds, type RequestEnds } from './request-ends.ts'

/** The request entry points of an application: the direct adapter and the Koa adapter. */
export interface Adapters extends Stages {
  /** Node's request listener: the direct adapter. */
  readonly handle: (req: IncomingMessage, res: ServerResponse) => void
  /** The Koa application, which uses the Koa adapter. Created on first use. */
  readonly koa: Koa
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

/** Creates the request entry points of an application that has not booted yet. */
export function createAdapters(context: AssemblyContext, boot: Boot): Adapters {
  const { dispatcher, events, options } = context
  const { Context } = context.contextClass
  const writeLine = options.logRequests ? requestLineWriter(options.logger) : undefined
  const stages = createStages(context)
  const { health, state } = stages
  const ends = createRequestEnds()
  const pending = createPending()
  const channel = createRequestChannel({ services: context.container.cradle, routeOf: dispatcher.routeOf })
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
    const opener = openerInKoa(open, { ready: boot.ready, begin: pending.begin, state })
    const probes = createKoaProbes(health, boot)
    const isMounted = ({ app }: KoaContext): boolean => app !== koa?.app
    const serve = { open: opener, probes, isMounted, dispatcher, channel, state }
    return (koa ??= createKoaApp(koaOptions(options), { serve, forwarding, reporter: state.reporter }))
  }

  return {
    ...stages,
    track: pending.track,
    drain: pending.drain,
    disposeRequests: ends.drain,
    handle(req, res) {
      if (health.isProbe(req)) return void sendHealth(health, req, res)
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

function koaOptions({ koa, keys }: ResolvedOptions): Parameters<typeof createKoaApp>[0] {
  return { ...koa, keys }
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
  const { options, container, dispatcher } = context
  const requests = compileServices(container, { read: READ_REQUEST, watchEnd: ends.watch })
  const authenticator = container.has('authenticator')
    ? (container.cradle['authenticator'] as Authenticator)
    : undefined
  return {
    logger: options.logger,
    ...own,
    explainError: dispatcher.explainError,
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
