import { checkOptions, type OptionChecks } from '../support/check-options.ts'
import type { ErrorStatus } from '../schema/response-body.ts'
import type { AuthRequirement, RouteLimit } from './route.ts'

/** Options that a router applies to all its routes. */
export interface RouterOptions<
  Prefix extends string = string,
  Policies extends string = string,
  Rules extends string = string,
> {
  readonly prefix?: Prefix
  readonly tags?: readonly string[]
  /**
   * Guard of routes without their own. The guard of a route precedes that of its router, and a child that of its
   * parent.
   */
  readonly auth?: AuthRequirement<Policies>
  /** Limits of routes without their own, each of which counts alone. `limit: false` of a route removes them. */
  readonly limit?: RouteLimit<Rules>
  /** Statuses of errors that its handlers throw, for the OpenAPI document. They add to those of its routes. */
  readonly problems?: readonly ErrorStatus[]
  /** True to omit its routes from the OpenAPI document. */
  readonly hidden?: boolean
}

/** Options of a router with a guard, so that its handlers have a user. */
export type GuardedRouterOptions<
  Prefix extends string = string,
  Policies extends string = string,
  Rules extends string = string,
> = RouterOptions<Prefix, Policies, Rules> & { readonly auth: true | Policies | readonly Policies[] }

const ROUTER_OPTIONS: OptionChecks<RouterOptions>['keys'] = {
  prefix: 'string',
  tags: 'strings',
  auth: { is: ['boolean', 'string', 'strings'], guard: true },
  limit: { is: ['false', 'string', 'object', 'list'], guard: true },
  problems: 'list',
  hidden: 'boolean',
}

/** @throws StartupError for an unknown option, an option of another type, or `auth` or `limit` with the value `undefined`. */
export function checkRouterOptions(options: RouterOptions): void {
  checkOptions(options, { of: 'createRouter()', keys: ROUTER_OPTIONS })
}
