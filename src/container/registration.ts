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

/** A service registration: data, made by `singleton`, `scoped`, `transient` or `value`. */
export interface Registration<T> {
  readonly lifetime: Lifetime
  readonly factory: (services: Cradle<CoreServices & RequestServices>) => T
}

/** One instance for the application, made when it starts. */
export const singleton = <T>(factory: (services: Cradle) => T): Registration<T> => ({
  lifetime: 'singleton',
  factory,
})

/** One instance a request, made when first asked for; may ask for `ctx`, `user` and `requestId`. */
export const scoped = <T>(
  factory: (services: Cradle<CoreServices & RequestServices>) => T,
): Registration<T> => ({
  lifetime: 'scoped',
  factory,
})

/** A new instance for each that asks. */
export const transient = <T>(factory: (services: Cradle) => T): Registration<T> => ({
  lifetime: 'transient',
  factory,
})

/** An instance that exists already. */
export const value = <T>(instance: T): Registration<T> => ({ lifetime: 'value', factory: () => instance })

/** Registrations by service name. */
export type Registrations<Services> = { readonly [Name in keyof Services]: Registration<Services[Name]> }
