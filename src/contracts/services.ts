import type { Environment } from '../support/env/environment.ts'
import type { Clock } from './clock.ts'
import type { EventBus } from './events.ts'
import type { Gauges } from './gauges.ts'
import type { Outages } from './outages.ts'
import type { Logger } from './logger.ts'

/** Services that every application has. */
export interface CoreServices {
  readonly logger: Logger
  readonly events: EventBus
  /** Values of bricks and of the application that metrics can show. */
  readonly gauges: Gauges
  /** The log lines of failures of other servers, joined by cause. */
  readonly outages: Outages
  readonly environment: Environment
  readonly clock: Clock
  /** Public address of the application without a slash at its end, when configured. */
  readonly appUrl: string | undefined
  /**
   * Origins whose pages may send unsafe requests with a cookie: the origin of `appUrl` and the origins in the option.
   */
  readonly trustedOrigins: readonly string[]
}

/**
 * Services by name where the application is not known, as in a brick. Names besides `Known` are `unknown`: declare the
 * service in `KnownServices`, annotate the parameter of a factory in `services`, or cast where the service is used. Where
 * the application is known (`app.provide`, `servicesFor`), a factory sees only its services.
 */
export type Cradle<Known = CoreServices> = Known & { readonly [service: string]: unknown }

/**
 * Types of the services of bricks by name, for code that does not know its application. A brick adds its own where it is
 * declared: `declare module 'mortar' { interface KnownServices { counter: Counter } }`.
 */
export interface KnownServices {}

/**
 * Services by name in the slots of a brick: its own and those of the core, those in `KnownServices`, and `unknown` for
 * every other name.
 */
export type BrickServices<Own = {}> = Cradle<CoreServices & Own & Omit<KnownServices, keyof Own>>
