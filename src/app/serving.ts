import type { IncomingMessage, ServerResponse } from 'node:http'
import type Koa from 'koa'
import { compileServices, type ServicesFactory } from '../container/request-services.ts'
import type { Scope } from '../container/container.ts'
import { compileClientAddress } from '../context/client-address.ts'
import type { KoaContext } from '../context/context.ts'
import {
  type Door,
  publicContext,
  type ContextRuntime,
  type RequestContext,
} from '../context/request-context.ts'
import type { Authenticator } from '../contracts/authenticator.ts'
import type { House } from './boot.ts'
import { createKoaDoor } from './koa-door.ts'
import { createDirectDoor, type ListenerState } from './listener.ts'
import { logRequest } from './log-request.ts'

/** How an application answers requests, through either door. */
export interface Serving {
  /** Node's request listener: the direct door. */
  readonly handle: (req: IncomingMessage, res: ServerResponse) => void
  /** The Koa application: the other door, made when first asked for. */
  readonly koa: Koa
  readonly state: ListenerState
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

/** @param ready boots the application, for a request that comes through Koa before anybody did. */
export function createServing(house: House, ready: () => Promise<unknown>): Serving {
  const state: ListenerState = { closing: false }
  const { Context } = house.contextClass
  const { dispatcher, options } = house
  const directDoor = createDirectDoor(state)
  let runtime: ContextRuntime | undefined
  let koa: Koa | undefined

  function serve(
    req: IncomingMessage,
    res: ServerResponse,
    door: Door,
    koaContext?: KoaContext,
  ): void | PromiseLike<void> {
    const ctx = new Context(runtime!, req, res, door)
    if (koaContext) ctx.internal.koa = koaContext
    if (options.logRequests) logRequest(ctx, options.logger)
    return dispatcher.dispatch(ctx)
  }

  const koaApp = (): Koa =>
    (koa ??= createKoaDoor(async (context, door) => {
      await ready()
      await serve(context.req, context.res, door, context)
    }))

  return {
    state,
    handle(req, res) {
      // Middleware added with app.koa.use() wraps the direct door's requests too.
      if (koa !== undefined && koa.middleware.length > 1) void callbackOf(koa)(req, res)
      else void serve(req, res, directDoor)
    },
    get koa() {
      return koaApp()
    },
    compile() {
      runtime = createContextRuntime(house, (req, res) => koaApp().createContext(req, res))
    },
  }
}

function createContextRuntime(
  house: House,
  createKoaContext: ContextRuntime['createKoaContext'],
): ContextRuntime {
  const { options, container } = house
  const createServices: ServicesFactory = compileServices(container)
  const authenticator = container.has('authenticator')
    ? (container.cradle['authenticator'] as Authenticator)
    : undefined
  return {
    logger: options.logger,
    tokenCookies: [
      options.tokenCookie,
      ...[authenticator?.cookie ?? []].flat(),
    ],
    requestIdHeader: 'x-request-id',
    secureCookies: options.environment === 'production' ? true : undefined,
    clientAddress: compileClientAddress(options.trustProxy),
    createScope: (ctx) =>
      container.createScope({ ctx: publicContext(ctx), user: ctx.user, requestId: ctx.id }),
    createServices: (ctx) => createServices(ctx as RequestContext & { readonly scope: Scope }),
    createKoaContext,
  }
}
