import type { Server } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import type { AwilixContainer } from '#awilix'
import type Koa from 'koa'
import type { AnyBrick, Brick } from '../bricks/brick.ts'
import type {
  AnyRegistration,
  CoreServices,
  Registrations,
  RequestServices,
} from '../container/registration.ts'
import type { InjectRequest, InjectResponse } from './inject.ts'
import type { EventBus } from '../contracts/events.ts'
import type { Environment } from '../support/env/environment.ts'
import type { TypedApp } from '../routing/define-route.ts'
import type { Middleware, Route } from '../routing/route.ts'
import type { AnyRouter } from '../routing/router.ts'
import type { ListenOptions } from './listen-options.ts'
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

/** Where an application listens. */
export interface Listening {
  /** `http://127.0.0.1:3000` */
  readonly url: string
  /** 0 for a Unix socket. */
  readonly port: number
  /** The address that is bound, or the path of a Unix socket. */
  readonly host: string
  /** Node's own server, for what the framework does not offer: `server.on('upgrade', …)`. */
  readonly server: Server | TlsServer
}

/** An application: what it is made of, and its way from start to end. */
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
    registrations: Registrations<Added, CoreServices & RequestServices & Services>,
  ): App<Members, Services & Added>
  /** Replaces services before the start, for tests: `app.override({ mailer: value(fake) })`. */
  override(
    registrations: Readonly<
      Record<string, AnyRegistration<unknown, CoreServices & RequestServices & Services>>
    >,
  ): this
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
  /** Where it listens, once `listen()`. */
  readonly listening: Listening | undefined
  /**
   * Puts the application together without starting anything, for tools. It cannot be started afterwards. Services are
   * made when asked for.
   * @throws StartupError
   */
  inspect(): Promise<Inspection>
  /** Finishes what is in flight, stops the bricks in reverse and leaves no handle open. Safe to call again. */
  close(): Promise<void>
  /** Answers a request without a socket, through the same pipeline. */
  inject(request: InjectRequest | string): Promise<InjectResponse>
  /** A real Koa application that serves the same routes: mount it, or use its `callback()`. */
  readonly koa: Koa
  readonly events: EventBus
  readonly environment: Environment
  /** Services by name, once `ready()`; scoped ones need a request. */
  readonly services: Readonly<Services & CoreServices>
  /**
   * The awilix container: complete and its singletons made once `ready()`. `register` works until the start and checks as
   * `provide` does; a request's own scope is `ctx.scope`.
   */
  readonly container: AwilixContainer<Services & CoreServices>
  /** The routes known so far, as data. */
  readonly routes: readonly Route[]
}

/** An application that was put together without starting anything. It cannot be started any more. */
export interface Inspection {
  /** In the order in which they would start. */
  readonly bricks: readonly AnyBrick[]
  /** The OpenAPI document that would be served; an empty object where there is none. */
  readonly document: () => object
  readonly options: ResolvedOptions
  readonly routes: readonly Route[]
  readonly serviceNames: readonly string[]
  /** Services by name; asking for one makes it, and what it needs. */
  readonly services: Readonly<Record<string, unknown>>
  /** Makes every singleton, so that a wrong dependency is found. @throws StartupError */
  resolveSingletons(): void
}
