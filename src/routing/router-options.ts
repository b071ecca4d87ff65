import { checkOptions, type OptionChecks } from '../support/check-options.ts'
import type { AuthRequirement } from './route.ts'

/** Options that a router applies to all its routes. */
export interface RouterOptions {
  readonly prefix?: string
  readonly tags?: readonly string[]
  /** Guard of the routes that declare none; the route wins over the child router, the child over the parent. */
  readonly auth?: AuthRequirement
  /** Leaves its routes out of the OpenAPI document. */
  readonly hidden?: boolean
}

/** Options of a router whose routes are guarded, so that their handlers know the user. */
export type GuardedRouterOptions = RouterOptions & { readonly auth: true | string | readonly string[] }

const ROUTER_OPTIONS: OptionChecks<RouterOptions>['keys'] = {
  prefix: 'string',
  tags: 'strings',
  auth: { is: ['boolean', 'string', 'strings'], guard: true },
  hidden: 'boolean',
}

/** @throws StartupError for an unknown option, one of another type, or an `auth` that is there and undefined. */
export function checkRouterOptions(options: RouterOptions): void {
  checkOptions(options, { of: 'createRouter()', keys: ROUTER_OPTIONS })
}
