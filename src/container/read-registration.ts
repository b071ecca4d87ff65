import { inspect } from 'node:util'
import { asFunction, asValue, type Resolver } from 'awilix/browser'
import { StartupError } from '../errors/startup-error.ts'
import { isClass } from '../support/describe-value.ts'
import type { AnyRegistration, AwilixRegistration, Lifetime, Registration } from './registration.ts'

/** A registered service in the form that the container stores. */
export interface ServiceEntry {
  readonly owner: string
  readonly lifetime: Lifetime
  readonly resolver: Resolver<unknown>
  /** The framework's own registration; undefined when awilix makes the service by a resolver of its own. */
  readonly native: Registration<unknown, never> | undefined
  readonly dispose: ((instance: unknown) => unknown) | undefined
}

/** Fields of awilix's resolvers that the framework reads. The declared types are not reliable here. */
interface ResolverFields {
  readonly resolve?: unknown
  readonly lifetime?: unknown
  readonly injectionMode?: unknown
  readonly injector?: unknown
  readonly dispose?: unknown
}

const LIFETIMES: Readonly<Record<string, Lifetime>> = {
  SINGLETON: 'singleton',
  SCOPED: 'scoped',
  TRANSIENT: 'transient',
}

/**
 * Reads a registration that was made by `singleton` … `value`, or by awilix's `asClass`, `asFunction`, `asValue`,
 * `aliasTo`.
 * @param owner the registering party, for messages.
 * @throws StartupError `MORTAR_SERVICE_SHAPE`, `MORTAR_SERVICE_DISPOSER`.
 */
export function readRegistration(name: string, given: AnyRegistration<unknown>, owner: string): ServiceEntry {
  const entry = isNative(given) ? readNative(name, given, owner) : readResolver(name, given, owner)
  if (entry.dispose !== undefined && entry.lifetime !== 'singleton' && entry.lifetime !== 'scoped')
    throw neverDisposed(name, owner)
  return entry
}

function isNative(given: unknown): given is Registration<unknown, never> {
  return typeof (given as Partial<Registration<unknown>> | null | undefined)?.factory === 'function'
}

function readNative(name: string, native: Registration<unknown, never>, owner: string): ServiceEntry {
  const { lifetime, dispose, factory } = native
  if (isClass(factory))
    throw wrongShape(
      name,
      owner,
      `has the class ${factory.name} in place of a factory`,
      `Write ${lifetime}(({ … }) => new ${factory.name}(…)), or asClass(${factory.name}) of awilix.`,
    )
  if (factory.length > 1)
    throw wrongShape(
      name,
      owner,
      `has a factory with ${factory.length} parameters, but it gets one object with all services`,
      `Take them from it by their names: ${lifetime}(({ db, logger }) => …).`,
    )
  return { owner, lifetime, native, dispose, resolver: resolverOf(native) }
}

function resolverOf({ lifetime, factory, dispose }: Registration<unknown, never>): Resolver<unknown> {
  if (lifetime === 'value') return asValue(factory(undefined as never))
  const make = factory as (cradle: object) => unknown
  // A transient inside a singleton is a separate instance, not a value kept for too long.
  if (lifetime === 'transient') return asFunction(make, { isLeakSafe: true })
  const resolver = lifetime === 'scoped' ? asFunction(make).scoped() : asFunction(make).singleton()
  return dispose === undefined ? resolver : resolver.disposer(dispose)
}

function readResolver(name: string, given: AwilixRegistration<unknown>, owner: string): ServiceEntry {
  const fields = given as ResolverFields | null | undefined
  if (typeof fields !== 'object' || fields === null || typeof fields.resolve !== 'function')
    throw wrongShape(name, owner, 'is not a registration', remedyFor(name))
  const { lifetime = 'TRANSIENT', injectionMode = 'PROXY', injector, dispose } = fields
  if (!isOneOf(Object.keys(LIFETIMES), lifetime))
    throw wrongShape(name, owner, `has the unknown lifetime ${inspect(lifetime)}`, ONE_OF_LIFETIMES)
  if (!isOneOf(['PROXY', 'CLASSIC'], injectionMode))
    throw wrongShape(name, owner, `has the unknown injection mode ${inspect(injectionMode)}`, ONE_OF_MODES)
  for (const [key, value] of Object.entries({ injector, dispose }))
    if (value !== undefined && typeof value !== 'function')
      throw wrongShape(name, owner, `has a '${key}' that is not a function`, 'Give a function.')
  return {
    owner,
    native: undefined,
    lifetime: isValue(fields) ? 'value' : LIFETIMES[lifetime]!,
    resolver: given as Resolver<unknown>,
    dispose: dispose as ServiceEntry['dispose'],
  }
}

function isOneOf(words: readonly string[], value: unknown): value is string {
  return typeof value === 'string' && words.includes(value)
}

const ONE_OF_LIFETIMES = 'Use Lifetime.SINGLETON, Lifetime.SCOPED or Lifetime.TRANSIENT.'
const ONE_OF_MODES = 'Use InjectionMode.PROXY or InjectionMode.CLASSIC.'

/** Detects the resolver of `asValue`: it has no lifetime and reads nothing from a container. */
function isValue({ lifetime, resolve }: ResolverFields): boolean {
  return lifetime === undefined && (resolve as () => unknown).length === 0
}

function remedyFor(name: string): string {
  return `Wrap it: ${name}: singleton(…), scoped(…), transient(…) or value(…), or asClass(…), asFunction(…) or asValue(…) of awilix.`
}

function wrongShape(name: string, owner: string, found: string, remedy: string): StartupError {
  return new StartupError(`${owner}: the service '${name}' ${found}.`, {
    code: 'MORTAR_SERVICE_SHAPE',
    remedy,
  })
}

function neverDisposed(name: string, owner: string): StartupError {
  return new StartupError(
    `${owner}: the service '${name}' has a disposer that would never run, because transients are not stored.`,
    {
      code: 'MORTAR_SERVICE_DISPOSER',
      remedy: `Make '${name}' a singleton or scoped, or remove its disposer.`,
    },
  )
}
