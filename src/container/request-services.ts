import type { Container, Scope } from './container.ts'

/** What a request offers to its view of the services. */
export interface ServiceSource {
  readonly scope: Scope
}

/** Makes the `services` object of a request. */
export type ServicesFactory = (source: ServiceSource) => Readonly<Record<string, unknown>>

const LOOKED_FOR_BY_JAVASCRIPT = new Set([
  'then',
  'toJSON',
  'constructor',
  'inspect',
  'nodeType',
  'asymmetricMatch',
])

/**
 * Compiles the view of the services that each request gets: a getter per service. Singletons and values come from the
 * application; only a scoped or transient service makes a scope. An unknown name throws instead of being undefined.
 */
export function compileServices(container: Container): ServicesFactory {
  const prototype = Object.create(refuseUnknownNames()) as object
  const scoped = new Set(['ctx', 'user', 'requestId'])
  for (const name of container.names) {
    const lifetime = container.lifetimeOf(name)
    if (lifetime === 'scoped' || lifetime === 'transient') scoped.add(name)
    else Object.defineProperty(prototype, name, { enumerable: true, get: () => container.cradle[name] })
  }
  for (const name of scoped)
    Object.defineProperty(prototype, name, {
      enumerable: true,
      get(this: { [SOURCE]: ServiceSource }) {
        return this[SOURCE].scope.cradle[name]
      },
    })
  return (source) =>
    Object.create(prototype, { [SOURCE]: { value: source } }) as Readonly<Record<string, unknown>>
}

const SOURCE = Symbol('source')

function refuseUnknownNames(): object {
  return new Proxy(Object.create(null) as object, {
    get(_target, name) {
      if (typeof name === 'symbol' || LOOKED_FOR_BY_JAVASCRIPT.has(name)) return undefined
      throw new Error(`No service is named '${name}'. Register it with app.provide or through a brick.`)
    },
  })
}
