import { checkOptions } from '../support/check-options.ts'
import type { Context } from '../context/context.ts'
import type { CoreServices, Cradle } from '../contracts/services.ts'
import type { User } from '../contracts/user.ts'

/** Lifetime of an instance: the application, the request, one resolution, or a given value. */
export type Lifetime = 'singleton' | 'scoped' | 'transient' | 'value'

/** Services that exist only inside a request; a scoped factory may ask for them. */
export interface RequestServices {
  readonly ctx: Context
  readonly user: User | null
  readonly requestId: string
}

/** The services that a factory may ask for where the application is not known. */
export type AnyServices = Cradle<CoreServices & RequestServices>

/**
 * A service registration: data, made by `singleton`, `scoped`, `transient` or `value`.
 * `Known` are the services that its factory sees.
 */
export interface Registration<T, Known = AnyServices> {
  readonly lifetime: Lifetime
  /** Declared as a method, so that a factory with fewer known services is assignable where more are known. */
  factory(services: Known): T
  /** Called once with the instance when its application closes or its request has ended; may be asynchronous. */
  dispose?(instance: T): unknown
}

/** A registration of awilix's own: what `asClass`, `asFunction`, `asValue` or `aliasTo` returns. */
export interface AwilixRegistration<T> {
  resolve(container: never): T
  readonly lifetime?: 'SINGLETON' | 'SCOPED' | 'TRANSIENT'
}

/** Options of a registration whose instances live as long as the application or the request. */
export interface DisposeOptions<T> {
  /** Disposes of an instance when the application closes or the request has ended. A promise is awaited. */
  readonly dispose?: (instance: T) => unknown
}

/** One instance for the application, made when it starts. */
export function singleton<T, Known = Cradle>(
  factory: (services: Known) => T,
  options?: DisposeOptions<NoInfer<T>>,
): Registration<T, Known> {
  checkOptions(options, { of: 'singleton()', keys: { dispose: 'function' } })
  return { lifetime: 'singleton', factory, ...options }
}

/** One instance per request, made on first use; may ask for `ctx`, `user` and `requestId`. */
export function scoped<T, Known = AnyServices>(
  factory: (services: Known) => T,
  options?: DisposeOptions<NoInfer<T>>,
): Registration<T, Known> {
  checkOptions(options, { of: 'scoped()', keys: { dispose: 'function' } })
  return { lifetime: 'scoped', factory, ...options }
}

/** A new instance for each use. It is never disposed of. */
export function transient<T, Known = Cradle>(factory: (services: Known) => T): Registration<T, Known> {
  return { lifetime: 'transient', factory }
}

/** An instance that exists already. It is never disposed of. */
export function value<T>(instance: T): Registration<T, object> {
  return { lifetime: 'value', factory: () => instance }
}

/** A registration of either kind. */
export type AnyRegistration<T = unknown, Known = never> = Registration<T, Known> | AwilixRegistration<T>

/**
 * Services by name as one object type. A factory whose parameter is a `Cradle` accepts it, because an interface has no
 * other names and an object type may have them.
 */
export type ServicesByName<Services> = { readonly [Name in keyof Services]: Services[Name] }

/** Registrations by service name, whose factories see the services in `Known`. */
export type Registrations<Services, Known = AnyServices> = {
  readonly [Name in keyof Services]: AnyRegistration<Services[Name], Known>
}
