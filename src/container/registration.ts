import type { Context } from '../context/context.ts'
import type { Clock } from '../contracts/clock.ts'
import type { Environment } from '../contracts/environment.ts'
import type { EventBus } from '../contracts/events.ts'
import type { Logger } from '../contracts/logger.ts'
import type { User } from '../contracts/user.ts'

/** How long an instance lives: the application, the request, one resolution, or given from outside. */
export type Lifetime = 'singleton' | 'scoped' | 'transient' | 'value'

/** Services that every application has. */
export interface CoreServices {
  readonly logger: Logger
  readonly events: EventBus
  readonly environment: Environment
  readonly clock: Clock
  /** Public address of the application without a slash at its end, when configured. */
  readonly appUrl: string | undefined
  /** Origins whose pages may send unsafe requests with a cookie: that of `appUrl` and those of the option. */
  readonly trustedOrigins: readonly string[]
}

/** Services that exist only inside a request; a scoped factory may ask for them. */
export interface RequestServices {
  readonly ctx: Context
  readonly user: User | null
  readonly requestId: string
}

/**
 * What a factory is handed: services by name. Names of other bricks' services are `any`, because a service crosses
 * bricks by name and its type cannot be seen from here; annotate the parameter where it matters.
 */
// oxlint-disable-next-line typescript/no-explicit-any
export type Cradle<Known = CoreServices> = Known & { readonly [service: string]: any }

/**
 * A service registration: data, made by `singleton`, `scoped`, `transient` or `value`.
 * `Known` are the services whose types its factory sees.
 */
export interface Registration<T, Known = CoreServices & RequestServices> {
  readonly lifetime: Lifetime
  /** A method, so that a factory that knows fewer services still fits where more are known. */
  factory(services: Cradle<Known>): T
}

/** One instance for the application, made when it starts. */
export function singleton<T, Known = CoreServices>(
  factory: (services: Cradle<Known>) => T,
): Registration<T, Known> {
  return { lifetime: 'singleton', factory }
}

/** One instance a request, made when first asked for; may ask for `ctx`, `user` and `requestId`. */
export function scoped<T, Known = CoreServices & RequestServices>(
  factory: (services: Cradle<Known>) => T,
): Registration<T, Known> {
  return { lifetime: 'scoped', factory }
}

/** A new instance for each that asks. */
export function transient<T, Known = CoreServices>(
  factory: (services: Cradle<Known>) => T,
): Registration<T, Known> {
  return { lifetime: 'transient', factory }
}

/** An instance that exists already. */
export function value<T>(instance: T): Registration<T, object> {
  return { lifetime: 'value', factory: () => instance }
}

/** Registrations by service name, whose factories see the services in `Known`. */
export type Registrations<Services, Known = CoreServices & RequestServices> = {
  readonly [Name in keyof Services]: Registration<Services[Name], Known>
}
