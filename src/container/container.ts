import { asFunction, asValue, createContainer, type AwilixContainer } from 'awilix/browser'
import { StartupError } from '../errors/startup-error.ts'
import { nearest } from '../support/nearest.ts'
import { explainResolution } from './explain-resolution.ts'
import type { CoreServices, Lifetime, Registration } from './registration.ts'

/** Names that awilix answers itself, or that the framework fills per request. */
const RESERVED = new Set([
  'constructor',
  'toJSON',
  'then',
  'inspect',
  'toString',
  '__proto__',
  'ctx',
  'user',
  'requestId',
])
const REQUEST_SERVICES = ['ctx', 'user', 'requestId'] as const

/** The services of one application: registered by name once, resolved from the application or from a request. */
export interface Container {
  /**
   * @param owner who registers it, for messages: `brick 'mail'` or `app.provide`.
   * @throws StartupError for a name that is taken or reserved.
   */
  register(name: string, registration: Registration<unknown>, owner: string): void
  /** Replaces a service that is registered. @throws StartupError when there is none of that name. */
  override(name: string, registration: Registration<unknown>): void
  has(name: string): boolean
  ownerOf(name: string): string | undefined
  readonly names: readonly string[]
  /** Instances by name; asking for one that is not there throws. */
  readonly cradle: Readonly<Record<string, unknown>>
  /** Makes every singleton now, so that a wrong dependency is found before the first request. */
  resolveSingletons(): void
  /** The registration of a service that a request makes: scoped or transient. */
  registrationOf(name: string): Registration<unknown> | undefined
}

/** What is remembered of a service besides its resolver. */
interface Entry {
  readonly owner: string
  readonly lifetime: Lifetime
  readonly perRequest: Registration<unknown> | undefined
}

/** Makes a container that holds the framework's own services. */
export function createServiceContainer(core: CoreServices): Container {
  const awilix = createContainer<Record<string, unknown>>({ strict: true })
  const owners = new Map<string, Entry>()

  function put(name: string, registration: Registration<unknown>, owner: string): void {
    const { lifetime } = registration
    const perRequest = lifetime === 'scoped' || lifetime === 'transient' ? registration : undefined
    owners.set(name, { owner, lifetime, perRequest })
    awilix.register({ [name]: resolverOf(registration) })
  }

  for (const [name, instance] of Object.entries(core))
    put(name, { lifetime: 'value', factory: () => instance }, 'the framework')
  for (const name of REQUEST_SERVICES) awilix.register({ [name]: asFunction(outsideRequest(name)).scoped() })

  return {
    register(name, registration, owner) {
      refuseOther(name, registration, owner)
      refuseTakenName(name, owner, owners.get(name)?.owner)
      put(name, registration, owner)
    },
    override(name, registration) {
      const known = owners.get(name)
      if (!known) throw nothingToOverride(name, [...owners.keys()])
      refuseOther(name, registration, 'app.override')
      put(name, registration, known.owner)
    },
    has: (name) => owners.has(name),
    ownerOf: (name) => owners.get(name)?.owner,
    get names() {
      return [...owners.keys()]
    },
    cradle: awilix.cradle,
    resolveSingletons() {
      for (const [name, { owner, lifetime }] of owners)
        if (lifetime === 'singleton') resolveAtBoot(awilix, name, owner)
    },
    registrationOf: (name) => owners.get(name)?.perRequest,
  }
}

function resolverOf(registration: Registration<unknown>) {
  if (registration.lifetime === 'value') return asValue(registration.factory(undefined as never))
  const resolver = asFunction(registration.factory as (cradle: object) => unknown)
  // A transient inside a singleton is one more instance, not a value kept for too long.
  if (registration.lifetime === 'transient')
    return asFunction(registration.factory as () => unknown, { isLeakSafe: true })
  return registration.lifetime === 'scoped' ? resolver.scoped() : resolver.singleton()
}

function resolveAtBoot(awilix: AwilixContainer<Record<string, unknown>>, name: string, owner: string): void {
  try {
    awilix.resolve(name)
  } catch (error) {
    throw explainResolution(error, name, owner, Object.keys(awilix.registrations))
  }
}

function refuseTakenName(name: string, owner: string, present: string | undefined): void {
  if (RESERVED.has(name))
    throw new StartupError(
      `${owner} registers a service named '${name}', a name that the container keeps for itself.`,
      {
        code: 'MORTAR_SERVICE_RESERVED',
        remedy: 'Give the service another name.',
      },
    )
  if (present !== undefined)
    throw new StartupError(`The service '${name}' is registered by ${present} and again by ${owner}.`, {
      code: 'MORTAR_SERVICE_DUPLICATE',
      remedy: `Rename one of them, or replace the first on purpose with app.override({ ${name}: … }).`,
    })
}

/** Without types, a bare factory or value is easily given where a registration belongs. */
function refuseOther(name: string, registration: unknown, owner: string): void {
  if (typeof (registration as Partial<Registration<unknown>> | null)?.factory === 'function') return
  throw new StartupError(`${owner} registers the service '${name}' with what is no registration.`, {
    code: 'MORTAR_SERVICE_SHAPE',
    remedy: `Wrap it: ${name}: singleton(…), scoped(…), transient(…) or value(…).`,
  })
}

function nothingToOverride(name: string, names: readonly string[]): StartupError {
  const guess = nearest(name, names)
  return new StartupError(`app.override names the service '${name}', which nothing registers.`, {
    code: 'MORTAR_SERVICE_OVERRIDE',
    remedy: guess ? `Did you mean '${guess}'?` : 'Register it with app.provide instead.',
  })
}

function outsideRequest(name: string): () => never {
  return () => {
    throw new Error(`The service '${name}' exists only inside a request.`)
  }
}
