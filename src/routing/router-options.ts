import { checkOptions, type OptionChecks } from '../support/check-options.ts'
import type { AuthRequirement } from './route.ts'

/** Options that a router applies to all its routes. */
export interface RouterOptions {
  readonly prefix?: string
  readonly tags?: readonly string[]
  /**
   * Guard of routes without their own. The guard of a route precedes that of its router, and a child that of its
   * parent.
   */
  readonly auth?: AuthRequirement
  /** True to omit its routes from the OpenAPI document. */
  readonly hidden?: boolean
}

/** Options of a router with a guard, so that its handlers have a user. */
export type GuardedRouterOptions = RouterOptions & { readonly auth: true | string | readonly string[] }

const ROUTER_OPTIONS: OptionChecks<RouterOptions>['keys'] = {
  prefix: 'string',
  tags: 'strings',
  auth: { is: ['boolean', 'string', 'strings'], guard: true },
  hidden: 'boolean',
}

/** @throws StartupError for an unknown option, an option of another type, or `auth: undefined`. */
export function checkRouterOptions(options: RouterOptions): void {
  checkOptions(options, { of: 'createRouter()', keys: ROUTER_OPTIONS })
}
