import type { Server } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import type { AwilixContainer } from 'awilix/browser'
import type Koa from 'koa'
import type { AnyBrick, Brick } from '../bricks/brick.ts'
import type { BrickEntry } from '../routing/brick-entry.ts'
import type { HealthCheck } from '../bricks/health-check.ts'
import type {
  AnyRegistration,
  Registrations,
  RequestServices,
  ServicesByName,
} from '../container/registration.ts'
import type { CoreServices } from '../contracts/services.ts'
import type { InjectRequest, InjectResponse } from './serve/inject.ts'
import type { EventBus } from '../contracts/events.ts'
import type { User } from '../contracts/user.ts'
import type { Environment } from '../support/env/environment.ts'
import type { Duration } from '../support/duration.ts'
import type { TypedApp } from '../routing/define-route.ts'
import type { Middleware, Route } from '../routing/route.ts'
import type { AnyRouter } from '../routing/router.ts'
import type { ListenOptions } from './serve/listen-options.ts'
import type { RouteSink } from '../routing/route-sink.ts'
import type { ResolvedOptions } from './options.ts'

/** The ctx members that a brick adds. */
export type MembersOfBrick<B> = B extends Brick<string, object, infer Members> ? Members : {}

/** The services that a brick provides. */
export type ServicesOfBrick<B> = B extends Brick<string, infer Services, object> ? Services : {}

/** The ctx members that a list of bricks adds. */
export type MembersOfBricks<Bricks extends readonly unknown[]> = Bricks extends readonly [
  infer First,
  ...infer Rest,
]
  ? MembersOfBrick<First> & MembersOfBricks<Rest>
  : {}

/** The services that a list of bricks provides. */
export type ServicesOfBricks<Bricks extends readonly unknown[]> = Bricks extends readonly [
  infer First,
  ...infer Rest,
]
  ? ServicesOfBrick<First> & ServicesOfBricks<Rest>
  : {}

/** Address of a listening application. */
export interface Listening {
  /** `http://127.0.0.1:3000` */
  readonly url: string
  /** 0 for a Unix socket. */
  readonly port: number
  /** The bound address, or the path of a Unix socket. */
  readonly host: string
  /** Node's own server, for features that the framework does not offer: `server.on('upgrade', …)`. */
  readonly server: Server | TlsServer
}

/** Options of `close()`. */
export interface CloseOptions {
  /** Time to serve on before the close begins: seconds or a duration. 0 by default; SIGTERM uses that of `createApp`. */
  readonly drainDelay?: Duration
}

/** An application: its parts and its lifecycle. */
export interface App<Members extends object = {}, Services extends object = {}>
  extends TypedApp<Members, Services>, RouteSink {
  /** Adds a brick, mounts a router, or adds middleware around the whole application, outermost first. */
  use<B extends AnyBrick>(brick: B): App<Members & MembersOfBrick<B>, Services & ServicesOfBrick<B>>
  use(item: AnyRouter | Middleware): this
  /**
   * Registers the application's own services: `app.provide({ notes: scoped(({ db, user }) => …) })`. A factory sees the
   * services that were registered before this call.
   */
  provide<Added extends object>(
    registrations: Registrations<Added, ServicesByName<CoreServices & RequestServices & Services>>,
  ): App<Members, Services & Added>
  /** Replaces services before the start, for tests: `app.override({ mailer: value(fake) })`. */
  override(
    registrations: Readonly<
      Record<string, AnyRegistration<unknown, ServicesByName<CoreServices & RequestServices & Services>>>
    >,
  ): this
  /**
   * Adds a check to `/readyz`, beside the checks of bricks: `app.check('upstream', (services, signal) => …)`. Its failure
   * is only reported, unless the option `health.critical` names the check.
   */
  check(name: string, check: HealthCheck<ServicesByName<CoreServices & Services>>): this
  /** Boots without listening: routes compiled, bricks started. Safe to call again. @throws StartupError */
  ready(): Promise<this>
  /**
   * Boots and listens. Port 0 picks a free one. Without a host it binds `HOST`, else all interfaces in production and
   * loopback elsewhere.
   * @throws StartupError
   */
  listen(port?: number, host?: string): Promise<Listening>
  /** The same with TLS, a Unix socket or other limits than the option `server`. @throws StartupError */
  listen(options: ListenOptions): Promise<Listening>
  /**
   * Serves upgrade requests of another server, such as one around `app.koa.callback()`, by its request listener. The
   * server of `listen()` needs no call. Returns the application.
   */
  upgrade(server: Server | TlsServer): this
  /** The address, after `listen()` has resolved. */
  readonly listening: Listening | undefined
  /**
   * Assembles the application without starting it, for tools. It cannot be started afterwards. Services are created
   * on first use.
   * @throws StartupError
   */
  inspect(): Promise<Inspection>
  /**
   * Finishes requests in flight, stops the bricks in reverse order and closes every handle. Safe to call again. With
   * `drainDelay`, `/readyz` responds with 503 and the application serves on for that time first; another call ends it.
   */
  close(options?: CloseOptions): Promise<void>
  /** Answers a request without a socket, through the same pipeline. */
  inject(request: InjectRequest | string): Promise<InjectResponse>
  /** A real Koa application that serves the same routes: mount it, or use its `callback()`. */
  readonly koa: Koa
  readonly events: EventBus
  readonly environment: Environment
  /** Services by name, after `ready()`. Scoped services need a request. */
  readonly services: Readonly<Services & CoreServices>
  /**
   * The awilix container. After `ready()` it is complete and its singletons exist. `register` works until the start and
   * checks like `provide`. The scope of a request is `ctx.scope`.
   */
  readonly container: Omit<AwilixContainer<Services & CoreServices>, 'loadModules'>
  /** The routes known so far, as data. */
  readonly routes: readonly Route[]
}

/** Services outside a request: `dispose` releases the scoped ones. */
export interface InspectedScope {
  readonly services: Readonly<Record<string, unknown>>
  dispose(): Promise<void>
}

/** An application that was assembled without starting it. It cannot be started any more. */
export interface Inspection {
  /** In the order in which they would start. */
  readonly bricks: readonly AnyBrick[]
  /** Returns the OpenAPI document that would be served, or an empty object if the application serves none. */
  readonly document: () => object
  /** Returns the AsyncAPI document, or undefined for an application without a socket and a channel. */
  readonly asyncDocument: () => Promise<object | undefined>
  /** Entry points of bricks that are not routes, such as jobs. @throws StartupError for a broken one. */
  readonly entries: () => Promise<readonly BrickEntry[]>
  readonly options: ResolvedOptions
  readonly routes: readonly Route[]
  readonly serviceNames: readonly string[]
  /** Services by name. Reading one creates it and its dependencies. */
  readonly services: Readonly<Record<string, unknown>>
  /** Makes the services as a request of this user would have them, without `ctx`. */
  openScope(user: User | null): InspectedScope
  /** Creates every singleton, to find wrong dependencies. @throws StartupError */
  resolveSingletons(): void
}
