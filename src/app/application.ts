import { setTimeout as wait } from 'node:timers/promises'
import type { AwilixContainer } from 'awilix/browser'
import type Koa from 'koa'
import type { AnyBrick } from '../bricks/brick.ts'
import { type HealthCheck, readCheck } from '../bricks/health-check.ts'
import { explainedServices } from '../container/explain-resolution.ts'
import type { OpenOuterApp } from '../context/outer-app.ts'
import { type Environment, isInspecting, isWorking } from '../support/env/environment.ts'
import type { Middleware, Route } from '../routing/route.ts'
import type { RouteBatch } from '../routing/route-sink.ts'
import { isRouter, type AnyRouter } from '../routing/router.ts'
import type { CloseOptions, Listening, Inspection } from './app.ts'
import {
  type AssemblyContext,
  checkedBatch,
  createAssemblyContext,
  createParts,
  overrideServices,
  provideServices,
  type GivenServices,
} from './assembly-context.ts'
import { assemble, inspectionOf, type Assembly } from './life/boot.ts'
import { onlyItem } from '../routing/check-routes.ts'
import type { ApplicationEvents } from './event-bus.ts'
import { createLifecycle, type Lifecycle } from './life/lifecycle.ts'
import { endWithProcess } from './life/end-with-process.ts'
import { beginToServe } from './life/announce.ts'
import { listenOptions, planListening, type ListenOptions } from './serve/listen-options.ts'
import { inject, type InjectRequest, type InjectResponse } from './serve/inject.ts'
import { brickOf, checkMiddleware, closedAlready, listensAlready, onlyInspected, tooLate } from './misuse.ts'
import type { ResolvedOptions } from './options.ts'
import { createPendingLoads } from './life/pending-loads.ts'
import { createAdapters, type Adapters } from './serve/adapters.ts'
import { startServer, type RunningServer } from './serve/server.ts'
import { delayOf, shutDown } from './life/shut-down.ts'

/** The lifecycle of an application, from creation to close. Its parts are in files of their own. */
export class Application {
  readonly environment: Environment
  readonly events: ApplicationEvents
  readonly services: Readonly<Record<string, unknown>>
  private readonly options: ResolvedOptions
  private readonly parts = createParts()
  private readonly context: AssemblyContext
  private readonly adapters: Adapters
  private readonly lifecycle: Lifecycle
  private readonly loading = createPendingLoads()
  private booting: Promise<void> | undefined = undefined
  private closing: Promise<void> | undefined = undefined
  private assembling: Promise<Assembly> | undefined = undefined
  private assembled = false
  private starting: Promise<RunningServer> | undefined = undefined
  private server: RunningServer | undefined = undefined
  private release: (() => void) | undefined = undefined
  private readonly hurry = new AbortController()

  constructor(options: ResolvedOptions, openOuter: OpenOuterApp) {
    this.options = options
    this.environment = options.environment
    this.context = createAssemblyContext(options, (what) => this.refuseAfterStart(what))
    this.events = this.context.events
    this.services = explainedServices(this.context.container, () => this.assembled)
    this.adapters = createAdapters(this.context, this, openOuter)
    this.lifecycle = createLifecycle(this.context.container, options.reporter, options.shutdownTimeout)
  }

  use(...items: readonly [AnyBrick | AnyRouter | Middleware]): this {
    const item = onlyItem(items, 'app.use')
    if (isRouter(item)) this.mount(item)
    else if (typeof item === 'function') this.addMiddleware(checkMiddleware(item, this.options.reporter))
    else this.addBrick(brickOf(item))
    return this
  }

  provide(registrations: GivenServices): this {
    this.refuseAfterStart('app.provide')
    provideServices(this.parts, registrations)
    return this
  }

  override(registrations: GivenServices): this {
    this.refuseAfterStart('app.override')
    overrideServices(this.parts, registrations)
    return this
  }

  check(name: string, check: HealthCheck): this {
    this.refuseAfterStart('app.check')
    this.parts.checks.push(readCheck(name, check, 'the application'))
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
    if (this.hurry.signal.aborted) throw closedAlready()
    await (this.booting ??= this.boot())
    // It may have been closed while it booted. A signal that did so ends the process before anybody sees the error.
    await this.closing
    if (this.closing) throw closedAlready()
    return this
  }

  async inspect(): Promise<Inspection> {
    this.refuseAfterStart('inspect()')
    const assembling = this.assembleAll(false)
    this.booting = assembling.then(() => Promise.reject(onlyInspected()))
    this.booting.catch(() => undefined)
    return inspectionOf(await assembling, this.context)
  }

  get closeLimits(): Pick<ResolvedOptions, 'shutdownTimeout' | 'drainDelay' | 'logger'> {
    return this.options
  }

  get listening(): Listening | undefined {
    return this.server
  }

  async listen(given?: number | ListenOptions, host?: string): Promise<Listening> {
    const wanted = { ...this.options.server, ...listenOptions(given, host) }
    if (this.options.signals) this.release ??= endWithProcess(this.options, (how) => this.close(how))
    await this.ready()
    if (this.starting) throw listensAlready(this.server?.url)
    const plan = () => planListening(wanted, this.environment, this.options.reporter)
    this.starting = (async () => startServer(this.adapters.handle, plan()))()
    try {
      this.server = await this.starting
    } catch (error) {
      await this.close()
      throw error
    }
    await this.closing
    if (this.closing) throw closedAlready()
    this.upgrade(this.server.server)
    beginToServe(this.server, this.context)
    return this.server
  }

  upgrade(server: Listening['server']): this {
    this.adapters.acceptUpgrades(server, this.parts.bricks)
    return this
  }

  async close(options?: CloseOptions): Promise<void> {
    const delay = delayOf(options, this.options.reporter)
    // Before the start is over, no load balancer has to notice the end. A later call ends the delay of an earlier one.
    if (delay > 0 && this.closing === undefined && this.adapters.health.stage !== 'starting') {
      this.adapters.beginToDrain()
      await wait(delay * 1000, undefined, { signal: this.hurry.signal }).catch(() => undefined)
    }
    this.hurry.abort()
    return (this.closing ??= this.shutDown())
  }

  async inject(request: InjectRequest | string): Promise<InjectResponse> {
    await this.lifecycle.outsideStart(() => this.ready())
    return this.adapters.track(inject(this.adapters.handle, request))
  }

  get koa(): Koa {
    return this.adapters.koa
  }

  get container(): AwilixContainer<Record<string, unknown>> {
    return this.context.container.awilix
  }

  get routes(): readonly Route[] {
    return this.context.dispatcher.routes
  }

  private mount(router: AnyRouter): void {
    if (!this.assembled) return void this.parts.routers.push(router)
    this.addRoutes(checkedBatch(router))
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

  /** Begins to boot, and resolves when the routes are known or the boot has failed. */
  async routesKnown(): Promise<void> {
    this.ready().catch(() => undefined)
    await this.assembling?.catch(() => undefined)
  }

  private async assembleAll(singletons: boolean): Promise<Assembly> {
    await this.loading.settle(this.options.reporter)
    this.assembled = true
    return assemble(this.parts, this.context, { singletons })
  }

  private async boot(): Promise<void> {
    if (isInspecting()) throw onlyInspected()
    const { health } = this.adapters
    try {
      const { bricks, checks, documentation, preload } = await (this.assembling = this.assembleAll(true))
      // In production the document is built on its first request, since development and test have already checked it.
      if (this.environment !== 'production') (await documentation?.())?.document()
      await preload()
      this.adapters.compile()
      await health.use(checks)
      await this.lifecycle.start(bricks, { servesRequests: !isWorking(), stopping: this.adapters.stopping })
      if (health.stage === 'starting') health.stage = 'ready'
    } catch (error) {
      if (health.stage === 'starting') health.stage = 'failed'
      await this.lifecycle.stop()
      this.release?.()
      throw error
    }
  }

  private async shutDown(): Promise<void> {
    const { adapters, lifecycle, booting, context } = this
    await shutDown({ adapters, lifecycle, ...context, booting, starting: () => this.starting })
    this.release?.()
  }

  private refuseAfterStart(what: string): void {
    if (this.booting !== undefined) throw tooLate(what)
  }
}
