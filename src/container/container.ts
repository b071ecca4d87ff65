import { asFunction, createContainer, type AwilixContainer, type Resolver } from 'awilix/browser'
import { checkAwilix } from '../compat/awilix.ts'
import { StartupError, StartupErrors } from '../errors/startup-error.ts'
import { didYouMean } from '../support/nearest.ts'
import { takeDisposables, type DisposeAll } from './disposal.ts'
import { asynchronous, explainResolution } from './explain-resolution.ts'
import { readRegistration, type ServiceEntry } from './read-registration.ts'
import type { CoreServices } from '../contracts/services.ts'
import { value, type AnyRegistration } from './registration.ts'

/** Names that awilix reserves, or that the framework provides per request. */
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
/** Owner of registrations that the application makes directly on `app.container`. */
const DIRECT = 'app.container.register'

/** The services of one application: registered by name once, resolved from the application or from a request. */
export type Container = ReturnType<typeof createServiceContainer>

/** Options of a container for the disposal of instances and the end of registration. */
export interface ContainerOptions {
  readonly disposeAll: DisposeAll
  /** @throws StartupError if `app.container.register` is called too late. */
  readonly refuseLate: (what: string) => void
}

/** Makes a container that holds the framework's own services. @throws StartupError for an unknown version of awilix. */
export function createServiceContainer(core: CoreServices, options: ContainerOptions) {
  checkAwilix()
  const awilix = createContainer<Record<string, unknown>>({ strict: true })
  const entries = new Map<string, ServiceEntry>()
  const put = putInto(awilix, entries)

  function register(name: string, registration: AnyRegistration, owner: string): void {
    const entry = readRegistration(name, registration, owner)
    const present = entries.get(name)?.owner
    // As in awilix, the later of two direct registrations wins.
    refuseTakenName(name, owner, present === DIRECT && owner === DIRECT ? undefined : present)
    put(name, entry)
  }

  for (const [name, instance] of Object.entries(core))
    put(name, readRegistration(name, value(instance), 'the framework'))
  adapt(awilix, options, register)
  const dispose = async (left?: () => number): Promise<void> => {
    const disposables = takeDisposables(awilix.cache)
    awilix.cache.clear()
    await options.disposeAll(disposables, left)
  }
  awilix.dispose = dispose

  return {
    /** The awilix container behind it; its `register` checks as `app.provide` does, its `dispose` keeps the order. */
    awilix,
    /**
     * @param owner the registering party, for messages: `brick 'mail'` or `app.provide`.
     * @throws StartupError for a used or reserved name, or a value that is not a registration.
     */
    register,
    /** Replaces a registered service. @throws StartupError if no service has that name. */
    override(name: string, registration: AnyRegistration) {
      const known = entries.get(name)
      if (!known) throw nothingToOverride(name, [...entries.keys()])
      put(name, { ...readRegistration(name, registration, 'app.override'), owner: known.owner })
    },
    has: (name: string) => entries.has(name),
    ownerOf: (name: string) => entries.get(name)?.owner,
    get names() {
      return [...entries.keys()]
    },
    /** Instances by name; reading an unknown name throws. */
    cradle: awilix.cradle,
    /** Makes every singleton now, so that a wrong dependency is found before the first request; so is a circle. */
    resolveSingletons() {
      const singletons = [...entries].filter(([, { lifetime }]) => lifetime === 'singleton')
      collectFaults(singletons, ([name, { owner }]) => resolveAtBoot(awilix, name, owner))
    },
    /** Returns the service of that name if a request makes it (scoped or transient). */
    requestService(name: string) {
      const entry = entries.get(name)
      return entry?.lifetime === 'scoped' || entry?.lifetime === 'transient' ? entry : undefined
    },
    disposeAll: options.disposeAll,
    /** Disposes of all existing instances, the newest first. Never rejects. */
    dispose,
  }
}

/** Registers the services that exist only in a request, before `register` of the container is replaced below. */
function putInto(
  awilix: Container['awilix'],
  entries: Map<string, ServiceEntry>,
): (name: string, entry: ServiceEntry) => void {
  const register = awilix.register.bind(awilix) as (name: string, resolver: Resolver<unknown>) => unknown
  for (const name of REQUEST_SERVICES) register(name, asFunction(outsideRequest(name)).scoped())
  return (name, entry) => {
    entries.set(name, entry)
    register(name, entry.resolver)
  }
}

/** Makes `app.container.register` check registrations like `app.provide`. */
function adapt(
  awilix: Container['awilix'],
  { refuseLate }: ContainerOptions,
  register: Container['register'],
): void {
  awilix.register = (first: string | symbol | Record<string, AnyRegistration>, second?: AnyRegistration) => {
    refuseLate(DIRECT)
    const given = typeof first === 'object' ? first : { [first]: second! }
    for (const [name, registration] of servicesIn(given, DIRECT)) register(name, registration, DIRECT)
    return awilix
  }
  awilix.loadModules = () => {
    throw new StartupError('app.container.loadModules does not exist: the container searches no files.', {
      code: 'MORTAR_SERVICE_SHAPE',
      remedy: "Load them into a container of awilix's own, and hand on its registrations to app.provide.",
    })
  }
}

/** Registrations by name. @throws StartupError `MORTAR_SERVICE_SHAPE` for a symbol in place of a name. */
export function servicesIn(registrations: object, owner: string): [string, AnyRegistration][] {
  const [symbol] = Object.getOwnPropertySymbols(registrations)
  if (symbol === undefined) return Object.entries(registrations)
  throw new StartupError(`${owner}: the name ${String(symbol)} is not a string.`, {
    code: 'MORTAR_SERVICE_SHAPE',
    remedy: 'Register the service under a string.',
  })
}

function resolveAtBoot(awilix: AwilixContainer<Record<string, unknown>>, name: string, owner: string): void {
  try {
    const made = awilix.resolve(name)
    if (made instanceof Promise) throw asynchronous(made, name, owner)
  } catch (error) {
    throw explainResolution(error, name, owner, Object.keys(awilix.registrations))
  }
}

function refuseTakenName(name: string, owner: string, present: string | undefined): void {
  if (RESERVED.has(name))
    throw new StartupError(
      `${owner} cannot register a service named '${name}', because the name is reserved.`,
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

function nothingToOverride(name: string, names: readonly string[]): StartupError {
  return new StartupError(`app.override: no service '${name}' is registered.`, {
    code: 'MORTAR_SERVICE_OVERRIDE',
    remedy: didYouMean(name, names, 'Register it with app.provide instead.'),
  })
}

function outsideRequest(name: string): () => never {
  return () => {
    throw new Error(`The service '${name}' exists only inside a request.`)
  }
}

/**
 * Calls `work` for each item and throws the faults together, so that one start shows the wrong options of all bricks. A
 * fault of the container itself is thrown immediately, because every service that depends on it would repeat it.
 */
function collectFaults<T>(items: readonly T[], work: (item: T) => void): void {
  const faults = new Map<string, StartupError>()
  for (const item of items)
    try {
      work(item)
    } catch (error) {
      if (!(error instanceof StartupError) || error.code.startsWith('MORTAR_SERVICE_')) throw error
      faults.set(error.message, error)
    }
  const [first, ...others] = faults.values()
  if (first !== undefined && others.length === 0) throw first
  if (first !== undefined)
    throw new StartupErrors(`${faults.size} faults prevent the start.`, [first, ...others])
}
