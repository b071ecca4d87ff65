import type { Resolver } from 'awilix/browser'
import type { RequestScope } from '../context/context.ts'
import type { Container } from './container.ts'
import { takeDisposables, type Disposable } from './disposal.ts'
import type { ServiceEntry } from './read-registration.ts'
import type { Registration, RequestServices } from './registration.ts'
import { openScope } from './request-scope.ts'

/** Functions that read the values of one request. */
export type ReadRequest<Source> = {
  readonly [Name in keyof RequestServices]: (source: Source) => RequestServices[Name]
}

/** State that all requests of an application share. */
export interface SharedByRequests<Source> {
  readonly container: Container
  readonly read: ReadRequest<Source>
  /** Calls `dispose` when the request is over: its handler has settled, and its response is finished or closed. */
  readonly watchEnd: (source: Source, dispose: () => Promise<void>) => void
  /**
   * True if a service of a request is registered with awilix's own functions; then each request needs an awilix scope.
   */
  readonly needsScope: boolean
}

/** The services that one request has made so far. */
export class RequestState<Source> {
  readonly source: Source
  readonly #shared: SharedByRequests<Source>
  /** Scoped services without an awilix scope, in the order of completion. */
  #made: Map<string, unknown> | undefined = undefined
  /** The services under construction; each is a dependency of the one before it. */
  #making: string[] | undefined = undefined
  #scope: RequestScope | undefined = undefined
  #isWatched = false
  /** True after the request: nothing would dispose of a service that is made now. */
  #isOver = false

  constructor(shared: SharedByRequests<Source>, source: Source) {
    this.#shared = shared
    this.source = source
  }

  /** The awilix scope, if any; it may have services that the application does not have. */
  get openScope(): RequestScope | undefined {
    return this.#scope
  }

  /** Returns the awilix scope, made on first use. From then on it makes every service of the request. */
  get scope(): RequestScope {
    return (this.#scope ??= this.#createScope())
  }

  /** Returns the instance of a scoped or transient service. @param services the argument of the factory. */
  make(services: object, name: string, { native, dispose }: ServiceEntry): unknown {
    if (this.#scope !== undefined || this.#shared.needsScope) return this.scope.resolve(name)
    if (this.#made?.has(name) === true) return this.#made.get(name)
    if (dispose !== undefined) this.#watch()
    return this.#checked(name, this.#makeNative(services, name, native!))
  }

  #makeNative(services: object, name: string, { lifetime, factory }: Registration<unknown, never>): unknown {
    const making = (this.#making ??= [])
    if (making.includes(name))
      throw new Error(`Services depend on each other in a circle: ${[...making, name].join(' → ')}.`)
    making.push(name)
    try {
      const instance = factory(services as never)
      if (lifetime === 'scoped') (this.#made ??= new Map()).set(name, instance)
      return instance
    } finally {
      making.pop()
    }
  }

  #createScope(): RequestScope {
    const { container } = this.#shared
    this.#watch()
    const scope = openScope(container, this.#resolvers(), (name, instance) => this.#checked(name, instance))
    for (const [name, value] of this.#made ?? [])
      scope.cache.set(name, { resolver: container.awilix.registrations[name]!, value })
    return scope
  }

  #resolvers(): Record<string, Resolver<unknown>> {
    const { read } = this.#shared
    const { source } = this
    const resolvers: Record<string, Resolver<unknown>> = {}
    for (const name of ['ctx', 'user', 'requestId'] as const)
      resolvers[name] = { resolve: () => read[name](source), isLeakSafe: true }
    return resolvers
  }

  #watch(): void {
    if (this.#isWatched) return
    this.#isWatched = true
    this.#shared.watchEnd(this.source, async () => {
      this.#isOver = true
      await this.#shared.container.disposeAll(this.#takeDisposables())
    })
  }

  #takeDisposables(): readonly Disposable[] {
    if (this.#scope) return takeDisposables(this.#scope.cache)
    return [...(this.#made ?? [])].toReversed().flatMap(([name, instance]) => {
      const dispose = this.#shared.container.requestService(name)?.dispose
      if (dispose === undefined) return []
      this.#made!.delete(name)
      return [{ name, instance, dispose }]
    })
  }

  #checked(name: string, instance: unknown): unknown {
    if (!this.#isOver) return instance
    const late = this.#takeDisposables()
    if (late.length === 0) return instance
    void this.#shared.container.disposeAll(late)
    throw new Error(
      `The service '${name}' was requested after its request had ended. Read the service before the response is sent.`,
    )
  }
}
