import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type Koa from 'koa'
import type { AnyBrick } from '../../bricks/brick.ts'
import { optionalService } from '../../container/optional-service.ts'
import { compileServices } from '../../container/request-services.ts'
import type { ReadRequest } from '../../container/request-state.ts'
import { compileForwarding } from '../../context/client-address.ts'
import { compileCredential } from '../../context/credential.ts'
import type { Boot, OpenOuterApp, OuterApp } from '../../context/outer-app.ts'
import {
  type Adapter,
  publicContext,
  type ContextRuntime,
  type RequestContext,
} from '../../context/request-context.ts'
import type { CookieSettings } from '../../context/request-cookies.ts'
import type { Authenticator } from '../../contracts/authenticator.ts'
import type { AssemblyContext } from '../assembly-context.ts'
import { credentialRules } from '../credential-rules.ts'
import { sendHealth } from '../life/health/health.ts'
import { acceptUpgrades, protocolsOf } from './accept-upgrades.ts'
import { createDirectAdapter } from './direct-adapter.ts'
import type { ResolvedOptions } from '../options.ts'
import { createPending } from './pending.ts'
import { requestLineWriter } from '../log/logger.ts'
import { createRequestChannel } from './request-channel.ts'
import { reportCompletion, REQUEST_COMPLETED } from '../log/request-completed.ts'
import { isWorking } from '../../support/env/environment.ts'
import { createStages, type Stages } from '../life/stages.ts'
import { createRequestEnds, type RequestEnds } from './request-ends.ts'

/** The request entry points of an application: the direct adapter and the Koa adapter. */
export interface Adapters extends Stages {
  /** Node's request listener: the direct adapter. */
  readonly handle: (req: IncomingMessage, res: ServerResponse) => void
  /** The Koa application, which uses the Koa adapter. Created on first use. */
  readonly koa: Koa
  /** Serves upgrade requests of a server for the protocols that bricks speak. */
  acceptUpgrades(server: Server, bricks: readonly AnyBrick[]): void
  /** Counts work as in flight until it settles. */
  track<T>(work: Promise<T>): Promise<T>
  /** Waits at most `timeout` seconds for requests from Koa or `inject`; the server waits for its own requests. */
  drain(timeout: number): Promise<void>
  /** Disposes of the services of open requests. Called when no request can be in flight any more. */
  disposeRequests(timeout: number): Promise<void>
  /** Freezes the state that requests share. Called once everything is assembled. */
  compile(): void
}

/**
 * A handler runs in a promise: Node then emits the error of a stream that it destroys and returns after `respond` listens
 * for it. Otherwise it would do so before an async handler has returned, and the error would end the process. ~40 ns.
 */
const beforeTicks = Promise.resolve()

/** Creates the request entry points of an application that has not booted yet. */
export function createAdapters(context: AssemblyContext, boot: Boot, openOuter: OpenOuterApp): Adapters {
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
  const servesRequests = !isWorking()
  let runtime: ContextRuntime | undefined
  let outer: OuterApp | undefined

  function open(req: IncomingMessage, res: ServerResponse, adapter: Adapter): RequestContext {
    const ctx = new Context(runtime!, req, res, adapter)
    if (writeLine || events.hasListeners(REQUEST_COMPLETED)) reportCompletion(ctx, writeLine, events)
    return ctx
  }

  const koaOptions = { ...options.koa, keys: options.keys }
  const parts = { options: koaOptions, forwarding, state, boot, health, dispatcher, channel, open }
  const outerApp = (): OuterApp => (outer ??= openOuter({ ...parts, begin: pending.begin }))

  return {
    ...stages,
    acceptUpgrades: (server, bricks) => acceptUpgrades(server, protocolsOf(bricks), state),
    track: pending.track,
    drain: pending.drain,
    disposeRequests: ends.drain,
    handle(req, res) {
      if (health.isProbe(req)) return void sendHealth(health, req, res)
      if (!servesRequests) return void res.writeHead(404).end()
      // Middleware added with app.koa.use() wraps the direct adapter's requests too.
      if (outer?.serve(req, res) === true) return
      const ctx = open(req, res, directAdapter)
      void beforeTicks.then(() => channel.run(ctx, dispatcher.dispatch))
    },
    get koa() {
      return outerApp().app
    },
    compile() {
      if (options.koa.asyncLocalStorage) outerApp()
      runtime = createContextRuntime(context, ends, {
        open: state.open,
        clientAddress: forwarding.clientAddress,
        cookies: cookieSettings(options, () => outer?.app.keys),
        enterOuter: (ctx) => outerApp().enter(ctx),
        emitError: (ctx, error) => outer?.emitError(ctx, error),
      })
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
  own: Pick<ContextRuntime, 'open' | 'cookies' | 'clientAddress' | 'enterOuter' | 'emitError'>,
): ContextRuntime {
  const { options, container, dispatcher } = context
  const requests = compileServices(container, { read: READ_REQUEST, watchEnd: ends.watch })
  const authenticator = optionalService<Authenticator>(container.cradle, 'authenticator')
  return {
    logger: options.logger,
    outages: context.outages,
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
