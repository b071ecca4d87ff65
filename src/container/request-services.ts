import type { RequestScope } from '../context/context.ts'
import type { Container } from './container.ts'
import { RequestState, type SharedByRequests } from './request-state.ts'

/** The services of one request by name. */
export type Services = Readonly<Record<string, unknown>>

/** Access of a request to its services. */
export interface RequestContainer<Source> {
  /** The services by name, each made on first read. */
  services(source: Source): Services
  /** The awilix scope behind services that `services()` returned. */
  scope(services: Services): RequestScope
}

/** Names that JavaScript, `console.log` and test runners read from any object. */
const LOOKED_FOR = /^(?:then|toJSON|constructor|inspect|href|nodeType|asymmetricMatch)$/

const SOURCE = Symbol('source')
const STATE = Symbol('state')

/**
 * Compiles the view of the services that a request gets: a getter per service. Singletons and values are the
 * application's; a scoped service is made when it is first read and kept. An unknown name throws instead of being
 * undefined. Where any service of a request is registered with awilix's own functions, an awilix scope makes them all.
 * Without one the view makes them, because a scope costs more than the rest of a request and stays in memory until V8
 * collects its old objects. test/container/disposal.test.ts runs the same checks on both.
 */
export function compileServices<Source>(
  container: Container,
  { read, watchEnd }: Pick<SharedByRequests<Source>, 'read' | 'watchEnd'>,
): RequestContainer<Source> {
  const needsScope = container.names.some((name) => {
    const service = container.requestService(name)
    return service !== undefined && service.native === undefined
  })
  const shared: SharedByRequests<Source> = { container, read, watchEnd, needsScope }
  class RequestServiceView {
    readonly [SOURCE]: Source;
    [STATE]: RequestState<Source> | undefined = undefined

    constructor(source: Source) {
      this[SOURCE] = source
    }
  }
  const stateOf = (view: RequestServiceView): RequestState<Source> =>
    (view[STATE] ??= new RequestState(shared, view[SOURCE]))
  const { prototype } = RequestServiceView
  Object.setPrototypeOf(prototype, unknownNames())
  const define = (name: string, get: (this: RequestServiceView) => unknown): void =>
    void Object.defineProperty(prototype, name, { enumerable: true, get })

  for (const name of container.names) {
    const service = container.requestService(name)
    define(name, function get() {
      if (service !== undefined) return stateOf(this).make(this, name, service)
      const scope = this[STATE]?.openScope
      return scope ? scope.resolve(name) : container.cradle[name]
    })
  }
  for (const [name, get] of Object.entries(read))
    define(name, function readValue() {
      return get(this[SOURCE])
    })
  return {
    services: (source) => new RequestServiceView(source) as unknown as Services,
    scope: (services) => stateOf(services as unknown as RequestServiceView).scope,
  }
}

/** Finds a service that was registered on `ctx.scope`, and refuses any other name. */
function unknownNames(): object {
  return new Proxy(Object.create(null) as object, {
    get(_target, name, services: { readonly [STATE]: RequestState<unknown> | undefined }) {
      if (typeof name === 'symbol' || LOOKED_FOR.test(name)) return undefined
      const scope = services[STATE]?.openScope
      if (scope?.has(name) === true) return scope.resolve(name)
      throw new Error(`No service is named '${name}'. Register it with app.provide or through a brick.`)
    },
  })
}
