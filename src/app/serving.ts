import type { IncomingMessage, ServerResponse } from 'node:http'
import type Koa from 'koa'
import { compileServices } from '../container/request-services.ts'
import type { ReadRequest } from '../container/request-state.ts'
import { compileClientAddress } from '../context/client-address.ts'
import type { KoaContext } from '../context/context.ts'
import { compileCredential } from '../context/credential.ts'
import {
  type Door,
  publicContext,
  type ContextRuntime,
  type RequestContext,
} from '../context/request-context.ts'
import { OpenRequests } from '../context/request-signal.ts'
import type { Authenticator } from '../contracts/authenticator.ts'
import { describeError } from '../errors/describe-error.ts'
import { whenClosed } from '../support/when-closed.ts'
import { withDeadline } from '../support/with-deadline.ts'
import type { House } from './boot.ts'
import { answerUnavailable, createKoaDoor } from './koa-door.ts'
import { credentialRules } from './credential-rules.ts'
import { createDirectDoor, type ListenerState } from './listener.ts'
import { reportCompletion, REQUEST_COMPLETED } from './request-completed.ts'
import { createRequestEnds, type RequestEnds } from './request-ends.ts'

/** How an application answers requests, through either door. */
export interface Serving {
  /** Node's request listener: the direct door. */
  readonly handle: (req: IncomingMessage, res: ServerResponse) => void
  /** The Koa application: the other door, made when first asked for. */
  readonly koa: Koa
  /** From here on each response ends its connection, and `ctx.signal` and event streams of requests under way end. */
  beginToClose(): void
  /** Counts work as in flight until it settles. */
  track<T>(work: Promise<T>): Promise<T>
  /** Waits for what came through Koa or `inject`, for at most `timeout` seconds; the server waits for its own. */
  drain(timeout: number): Promise<void>
  /** Disposes of the services of requests that are still open; called when none can be in flight any more. */
  disposeRequests(timeout: number): Promise<void>
  /** Fixes what requests share; called once everything is assembled. */
  compile(): void
}

/** Koa composes its middleware in `callback()`; that is done again only when some was added. */
const callbackOf = (() => {
  const callbacks = new WeakMap<Koa, { readonly size: number; readonly run: ReturnType<Koa['callback']> }>()
  return (koa: Koa): ReturnType<Koa['callback']> => {
    let known = callbacks.get(koa)
    if (known?.size !== koa.middleware.length)
      callbacks.set(koa, (known = { size: koa.middleware.length, run: koa.callback() }))
    return known.run
  }
})()

type Serve = (
  req: IncomingMessage,
  res: ServerResponse,
  door: Door,
  koaContext?: KoaContext,
) => void | PromiseLike<void>

/** @param ready boots the application, for a request that comes through Koa before anybody did. */
export function createServing(house: House, ready: () => Promise<unknown>): Serving {
  const { Context } = house.contextClass
  const { dispatcher, events, options } = house
  const { reporter } = options
  const requestLogger = options.logRequests ? reporter : undefined
  const state: ListenerState = { closing: false, reporter, open: new OpenRequests() }
  const ends = createRequestEnds()
  const pending = createPending()
  const directDoor = createDirectDoor(state)
  let runtime: ContextRuntime | undefined
  let koa: Koa | undefined

  const serve: Serve = (req, res, door, koaContext) => {
    const ctx = new Context(runtime!, req, res, door)
    if (koaContext) ctx.internal.koa = koaContext
    if (requestLogger || events.hasListeners(REQUEST_COMPLETED)) reportCompletion(ctx, requestLogger, events)
    return dispatcher.dispatch(ctx)
  }

  const koaApp = (): Koa =>
    (koa ??= createKoaDoor(async (context, door) => {
      try {
        await ready()
      } catch (error) {
        reporter.error({ err: describeError(error) }, 'A request came to an application that does not run')
        return answerUnavailable(context)
      }
      void pending.track(closeOf(context.req, context.res))
      await serve(context.req, context.res, door, context)
    }, state))

  return {
    beginToClose: () => beginToClose(state),
    ...pending,
    disposeRequests: ends.drain,
    handle(req, res) {
      // Middleware added with app.koa.use() wraps the direct door's requests too.
      if (koa !== undefined && koa.middleware.length > 1) void callbackOf(koa)(req, res)
      else void serve(req, res, directDoor)
    },
    get koa() {
      return koaApp()
    },
    compile() {
      runtime = createContextRuntime(house, { open: state.open, ends }, koaApp)
    },
  }
}

function beginToClose(state: ListenerState): void {
  state.closing = true
  state.open.abortAll()
}

/** Work in flight that no server of the application's own waits for. */
function createPending(): Pick<Serving, 'track' | 'drain'> {
  const pending = new Set<Promise<unknown>>()
  return {
    track(work) {
      const settled: Promise<unknown> = work.then(forget, forget)
      function forget(): void {
        pending.delete(settled)
      }
      pending.add(settled)
      return work
    },
    drain: (timeout) => withDeadline(Promise.all(pending), timeout).catch(() => undefined),
  }
}

function closeOf(req: IncomingMessage, res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    whenClosed(req, res, resolve)
  })
}

function createContextRuntime(
  house: House,
  { open, ends }: { readonly open: OpenRequests; readonly ends: RequestEnds },
  koaApp: () => Koa,
): ContextRuntime {
  const { options, container } = house
  const requests = compileServices(container, { read: READ_REQUEST, watchEnd: ends.watch })
  const authenticator = container.has('authenticator')
    ? (container.cradle['authenticator'] as Authenticator)
    : undefined
  return {
    logger: options.logger,
    open,
    findCredential: compileCredential(credentialRules(options, authenticator)),
    requestIdHeader: 'x-request-id',
    secureCookies: options.environment === 'production' ? true : undefined,
    clientAddress: compileClientAddress(options.trustProxy),
    createScope: (ctx) => requests.scope(ctx.services),
    createServices: requests.services,
    createKoaContext: (req, res) => koaApp().createContext(req, res),
  }
}

const READ_REQUEST: ReadRequest<RequestContext> = {
  ctx: publicContext,
  user: (ctx) => ctx.user,
  requestId: (ctx) => ctx.id,
}
