import type { Container } from './container.ts'
import type { Registration, RequestServices } from './registration.ts'

/** How the values that only a request has are read from it. */
export type ReadRequest<Source> = {
  readonly [Name in keyof RequestServices]: (source: Source) => RequestServices[Name]
}

/** The services of one request by name. */
export type Services = Readonly<Record<string, unknown>>

const LOOKED_FOR_BY_JAVASCRIPT = new Set([
  'then',
  'toJSON',
  'constructor',
  'inspect',
  'nodeType',
  'asymmetricMatch',
])

/**
 * Compiles the view of the services that a request gets, which is also what scoped and transient factories are handed:
 * a getter per service. Singletons and values are the application's; a scoped service is made when it is first read and
 * kept. An unknown name throws instead of being undefined. Scopes of awilix would do the same, but one of them costs
 * more than the rest of a request and keeps it alive until V8 collects its old objects.
 */
export function compileServices<Source>(
  container: Container,
  read: ReadRequest<Source>,
): (source: Source) => Services {
  class RequestServiceView {
    readonly [STATE]: State<Source>

    constructor(source: Source) {
      this[STATE] = { source, made: undefined, making: [] }
    }
  }
  const { prototype } = RequestServiceView
  Object.setPrototypeOf(prototype, refuseUnknownNames())
  const define = (name: string, get: (this: RequestServiceView) => unknown): void =>
    void Object.defineProperty(prototype, name, { enumerable: true, get })

  for (const name of container.names) {
    const registration = container.registrationOf(name)
    if (registration === undefined) define(name, () => container.cradle[name])
    else
      define(name, function make() {
        return instanceOf(this, this[STATE], name, registration)
      })
  }
  for (const [name, value] of Object.entries(read))
    define(name, function readValue() {
      return value(this[STATE].source)
    })
  return (source) => new RequestServiceView(source) as unknown as Services
}

interface State<Source> {
  readonly source: Source
  made: Map<string, unknown> | undefined
  /** The services being made now, each asked for by the one before it. */
  readonly making: string[]
}

const STATE = Symbol('state')

function instanceOf(
  services: object,
  state: State<unknown>,
  name: string,
  { lifetime, factory }: Registration<unknown>,
): unknown {
  const { made, making } = state
  if (made?.has(name) === true) return made.get(name)
  if (making.includes(name))
    throw new Error(`Services need each other in a circle: ${[...making, name].join(' → ')}.`)
  making.push(name)
  try {
    const instance = factory(services as never)
    if (lifetime === 'scoped') (state.made ??= new Map()).set(name, instance)
    return instance
  } finally {
    making.pop()
  }
}

function refuseUnknownNames(): object {
  return new Proxy(Object.create(null) as object, {
    get(_target, name) {
      if (typeof name === 'symbol' || LOOKED_FOR_BY_JAVASCRIPT.has(name)) return undefined
      throw new Error(`No service is named '${name}'. Register it with app.provide or through a brick.`)
    },
  })
}
