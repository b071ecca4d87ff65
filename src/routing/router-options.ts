import { checkOptions, type OptionChecks } from '../support/check-options.ts'
import type { AuthRequirement, RouteLimit } from './route.ts'

/** Options that a router applies to all its routes. */
export interface RouterOptions {
  readonly prefix?: string
  readonly tags?: readonly string[]
  /**
   * Guard of routes without their own. The guard of a route precedes that of its router, and a child that of its
   * parent.
   */
  readonly auth?: AuthRequirement
  /** Limits of routes without their own, each of which counts alone. `limit: false` of a route removes them. */
  readonly limit?: RouteLimit
  /** True to omit its routes from the OpenAPI document. */
  readonly hidden?: boolean
}

/** Options of a router with a guard, so that its handlers have a user. */
export type GuardedRouterOptions = RouterOptions & { readonly auth: true | string | readonly string[] }

const ROUTER_OPTIONS: OptionChecks<RouterOptions>['keys'] = {
  prefix: 'string',
  tags: 'strings',
  auth: { is: ['boolean', 'string', 'strings'], guard: true },
  limit: { is: ['false', 'string', 'object', 'list'], guard: true },
  hidden: 'boolean',
}

/** @throws StartupError for an unknown option, an option of another type, or `auth` or `limit` with the value `undefined`. */
export function checkRouterOptions(options: RouterOptions): void {
  checkOptions(options, { of: 'createRouter()', keys: ROUTER_OPTIONS })
}
