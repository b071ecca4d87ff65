import type { AwilixContainer } from '#awilix'
import type Koa from 'koa'
import type { AnyBrick } from '../bricks/brick.ts'
import { isBrick } from '../bricks/is-brick.ts'
import { createServiceContainer } from '../container/container.ts'
import { createDisposal } from '../container/disposal.ts'
import type { AnyRegistration, CoreServices } from '../container/registration.ts'
import { createContextClass } from '../context/context-class.ts'
import { type Environment, isInspecting } from '../support/env/environment.ts'
import type { Middleware, Route } from '../routing/route.ts'
import type { RouteBatch } from '../routing/route-sink.ts'
import { isRouter, scopesOfRouter, type AnyRouter } from '../routing/router.ts'
import { withDeadline } from '../support/with-deadline.ts'
import type { Listening, Inspection } from './app.ts'
import { assemble, type Assembly, type AssemblyContext, type Parts } from './boot.ts'
import { checkRoutes } from '../routing/check-routes.ts'
import { createDispatcher } from './dispatcher.ts'
import { createEventBus, type ApplicationEvents } from './event-bus.ts'
import { createLifecycle, type Lifecycle } from './lifecycle.ts'
import { announce } from './announce.ts'
import { listenOptions, planListening, type ListenOptions } from './listen-options.ts'
import { inject, type InjectRequest, type InjectResponse } from './inject.ts'
import { closedAlready, listensAlready, notUsable, onlyInspected, providedTwice, tooLate } from './misuse.ts'
import type { ResolvedOptions } from './options.ts'
import { createPendingLoads } from './pending-loads.ts'
import { createAdapters, type Adapters } from './adapters.ts'
import { startServer, type RunningServer } from './server.ts'
import { closeOnSignals } from './signals.ts'

type Registrations = Readonly<Record<string, AnyRegistration>>

/** The lifecycle of an application, from creation to close. Its parts are in files of their own. */
export class Application {
  readonly environment: Environment
  readonly events: ApplicationEvents
  private readonly options: ResolvedOptions
  private readonly parts: Parts = {
    bricks: [],
    routers: [],
    scopes: [],
    provided: new Map(),
    overrides: new Map(),
  }
  private readonly context: AssemblyContext
  private readonly adapters: Adapters
  private readonly lifecycle: Lifecycle
  private readonly loading = createPendingLoads()
  private booting: Promise<void> | undefined = undefined
  private closing: Promise<void> | undefined = undefined
  private assembled = false
  private starting: Promise<RunningServer> | undefined = undefined
  private server: RunningServer | undefined = undefined
  private removeSignalHandlers: (() => void) | undefined = undefined

  constructor(options: ResolvedOptions) {
    const { environment, logger, clock, appUrl, trustedOrigins } = options
    this.options = options
    this.environment = environment
    this.events = createEventBus(options.reporter)
    const core: CoreServices = { logger, events: this.events, environment, clock, appUrl, trustedOrigins }
    this.context = {
      options,
      core,
      events: this.events,
      container: createServiceContainer(core, {
        disposeAll: createDisposal(options.reporter, options.shutdownTimeout),
        refuseLate: (what) => this.refuseAfterStart(what),
      }),
      contextClass: createContextClass(),
      dispatcher: createDispatcher(),
    }
    this.adapters = createAdapters(this.context, () => this.ready())
    this.lifecycle = createLifecycle(this.context.container, options.reporter, options.shutdownTimeout)
  }

  use(item: AnyBrick | AnyRouter | Middleware): this {
    if (isRouter(item)) this.mount(item)
    else if (typeof item === 'function') this.addMiddleware(item)
    else if (isBrick(item)) this.addBrick(item)
    else throw notUsable(item)
    return this
  }

  provide(registrations: Registrations): this {
    this.refuseAfterStart('app.provide')
    for (const [name, registration] of Object.entries(registrations)) {
      if (this.parts.provided.has(name)) throw providedTwice(name)
      this.parts.provided.set(name, registration)
    }
    return this
  }

  override(registrations: Registrations): this {
    this.refuseAfterStart('app.override')
    for (const [name, registration] of Object.entries(registrations))
      this.parts.overrides.set(name, registration)
    return this
  }

  addRoutes(batch: RouteBatch): void {
    this.context.dispatcher.add(batch)
  }

  replaceRoutes(batch: RouteBatch): void {
    this.context.dispatcher.replace(batch)
  }

  get batches(): readonly RouteBatch[] {
    return this.context.dispatcher.batches
  }

  trackLoad<T>(work: Promise<T>, directory: string): Promise<T> {
    if (this.booting !== undefined)
      this.warn(`Routes of ${directory} are loaded after the start and work from then on.`)
    return this.loading.track(work)
  }

  warn(message: string): void {
    this.options.reporter.warn(message)
  }

  async ready(): Promise<this> {
    if (this.closing) throw closedAlready()
    await (this.booting ??= this.boot())
    // The application may have been closed while it booted.
    if (this.closing) throw closedAlready()
    return this
  }

  async inspect(): Promise<Inspection> {
    this.refuseAfterStart('inspect()')
    const assembling = this.assembleAll(false)
    this.booting = assembling.then(() => Promise.reject(onlyInspected()))
    this.booting.catch(() => undefined)
    const { bricks, documentation } = await assembling
    const { document } = (await documentation?.()) ?? { document: () => ({}) }
    const { options, routes, services } = this
    const { names: serviceNames, resolveSingletons } = this.context.container
    return { bricks, document, options, routes, services, serviceNames, resolveSingletons }
  }

  get listening(): Listening | undefined {
    return this.server
  }

  async listen(given?: number | ListenOptions, host?: string): Promise<Listening> {
    await this.ready()
    if (this.starting) throw listensAlready(this.server?.url)
    this.starting = this.startListening(listenOptions(given, host))
    try {
      this.server = await this.starting
    } catch (error) {
      await this.close()
      throw error
    }
    if (this.closing) throw closedAlready()
    if (this.options.signals) this.removeSignalHandlers = closeOnSignals(() => this.close())
    announce(this.server, this.options)
    return this.server
  }

  private async startListening(given: ListenOptions): Promise<RunningServer> {
    const plan = planListening({ ...this.options.server, ...given }, this.environment)
    return startServer(this.adapters.handle, plan)
  }

  close(): Promise<void> {
    return (this.closing ??= this.shutDown())
  }

  async inject(request: InjectRequest | string): Promise<InjectResponse> {
    await this.ready()
    return this.adapters.track(inject(this.adapters.handle, request))
  }

  get koa(): Koa {
    return this.adapters.koa
  }

  get services(): Readonly<Record<string, unknown>> {
    return this.context.container.cradle
  }

  get container(): AwilixContainer<Record<string, unknown>> {
    return this.context.container.awilix
  }

  get routes(): readonly Route[] {
    return this.context.dispatcher.routes
  }

  private mount(router: AnyRouter): void {
    if (!this.assembled) return void this.parts.routers.push(router)
    const routes = router.routes()
    checkRoutes(routes)
    this.addRoutes({ routes, scopes: scopesOfRouter(router) })
  }

  private addMiddleware(run: Middleware): void {
    const scope = { prefix: '/', middleware: { run, origin: run.name || 'middleware of the application' } }
    if (this.assembled) this.addRoutes({ routes: [], scopes: [scope] })
    else this.parts.scopes.push(scope)
  }

  private addBrick(brick: AnyBrick): void {
    this.refuseAfterStart(`The brick '${brick.name}'`)
    this.parts.bricks.push(brick)
  }

  private async assembleAll(singletons: boolean): Promise<Assembly> {
    await this.loading.settle(this.options.reporter)
    this.assembled = true
    return assemble(this.parts, this.context, { singletons })
  }

  private async boot(): Promise<void> {
    if (isInspecting()) throw onlyInspected()
    try {
      const { bricks, documentation, preload } = await this.assembleAll(true)
      // In production the document is built on its first request, since development and test have already checked it.
      if (this.environment !== 'production') (await documentation?.())?.document()
      await preload()
      this.adapters.compile()
      await this.lifecycle.start(bricks)
    } catch (error) {
      await this.lifecycle.stop()
      throw error
    }
  }

  private async shutDown(): Promise<void> {
    const { shutdownTimeout } = this.options
    this.adapters.beginToClose()
    // A start that hangs must not delay the stop; the lifecycle stops the bricks that have started.
    await withDeadline(Promise.resolve(this.booting), shutdownTimeout).catch(() => undefined)
    // Wait for a server that is about to listen; otherwise it would stay open.
    const server = await this.starting?.catch(() => undefined)
    await Promise.all([server?.drain(shutdownTimeout), this.adapters.drain(shutdownTimeout)])
    await this.adapters.disposeRequests(shutdownTimeout)
    await this.lifecycle.stop()
    this.removeSignalHandlers?.()
  }

  private refuseAfterStart(what: string): void {
    if (this.booting !== undefined) throw tooLate(what)
  }
}
