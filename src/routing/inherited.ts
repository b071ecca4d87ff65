import { joinPath } from '../support/url-path.ts'
import type { ErrorStatus } from '../schema/response-body.ts'
import type { RouterOptions } from './router-options.ts'
import type { AuthRequirement, NamedMiddleware, RouteLimit } from './route.ts'

/** Settings that a router inherits from its parent routers. */
export interface Inherited {
  readonly prefix: string
  readonly tags: readonly string[]
  readonly auth: AuthRequirement | undefined
  readonly limit: RouteLimit | undefined
  readonly problems: readonly ErrorStatus[]
  readonly hidden: boolean
  readonly middleware: readonly NamedMiddleware[]
}

/** The settings of a router without parents. */
export const NOTHING: Inherited = {
  prefix: '',
  tags: [],
  auth: undefined,
  limit: undefined,
  problems: [],
  hidden: false,
  middleware: [],
}

/** Joins the settings of a router with those of its parents. */
export function inherit(
  inherited: Inherited,
  options: RouterOptions,
  middleware: readonly NamedMiddleware[],
): Inherited {
  return {
    prefix: joinPath(inherited.prefix, options.prefix ?? ''),
    tags: [...inherited.tags, ...(options.tags ?? [])],
    auth: options.auth ?? inherited.auth,
    limit: options.limit ?? inherited.limit,
    problems: [...inherited.problems, ...(options.problems ?? [])],
    hidden: options.hidden ?? inherited.hidden,
    middleware: [...inherited.middleware, ...middleware],
  }
}
