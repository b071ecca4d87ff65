import { StartupError } from '../errors/startup-error.ts'
import { describeValue } from '../support/describe-value.ts'
import { callerOf, type CodePlace } from '../support/place-of-error.ts'
import { joinPath } from '../support/url-path.ts'
import type { PolicyNames } from '../contracts/authenticator.ts'
import type { RuleNames } from '../contracts/limiter.ts'
import type { AddAppRoute, AddRoute } from './add-route.ts'
import { onlyItem, readRouteArguments, type RouteArguments, type RouteParts } from './check-routes.ts'
import type { HandlerServices, MembersOf, ServicesOf, TypedApp } from './define-route.ts'
import { inherit, NOTHING, type Inherited } from './inherited.ts'
import { checkRouterOptions, type GuardedRouterOptions, type RouterOptions } from './router-options.ts'
import {
  METHODS,
  type Method,
  type Middleware,
  type MiddlewareScope,
  type NamedMiddleware,
  type Route,
} from './route.ts'

type Verb = Lowercase<Method>

const ROUTER = Symbol.for('mortar.router')

/**
 * A group of routes, independent of an application. `app.use(router)` mounts it; it can be mounted more than once.
 * Handlers have the parameters of their path and of the router's own `Prefix`.
 */
export interface Router<Guarded = false, Prefix extends string = string> extends Readonly<
  Record<Verb, AddRoute<Router<Guarded, Prefix>, Guarded, Prefix>>
> {
  readonly [ROUTER]: true
  /** Adds middleware around this router's routes, or mounts a child router. */
  use(item: Middleware | AnyRouter): Router<Guarded, Prefix>
  /** Returns the routes as data, with joined prefixes, accumulated tags and resolved guards. */
  routes(prefix?: string): Route[]
}

/** A router whose handlers see the members of one application's bricks. */
export interface AppRouter<
  Members,
  Services,
  Guarded = false,
  Prefix extends string = string,
> extends Readonly<
  Record<Verb, AddAppRoute<AppRouter<Members, Services, Guarded, Prefix>, Members, Services, Guarded, Prefix>>
> {
  readonly [ROUTER]: true
  use(item: Middleware | AnyRouter): AppRouter<Members, Services, Guarded, Prefix>
  routes(prefix?: string): Route[]
}

/** Any router, independent of the types of its handlers. */
export interface AnyRouter {
  readonly [ROUTER]: true
  routes(prefix?: string): Route[]
}

type Entry =
  | ({
      readonly kind: 'route'
      readonly method: Method
      readonly path: string
      readonly place: CodePlace
    } & RouteParts)
  | { readonly kind: 'child'; readonly router: AnyRouter }

const COLLECT = Symbol.for('mortar.router.collect')
const SCOPES = Symbol.for('mortar.router.scopes')
const CONTAINS = Symbol.for('mortar.router.contains')

/** The parts of a router: its routes, and middleware that it adds to the application below a prefix. */
interface RouterParts {
  readonly [COLLECT]: (inherited: Inherited) => Route[]
  readonly [SCOPES]?: (prefix: string) => MiddlewareScope[]
  readonly [CONTAINS]?: (other: AnyRouter) => boolean
}

/** Creates a router whose routes and scopes are computed when it is mounted. */
export function routerOf(
  collect: (inherited: Inherited) => Route[],
  scopes: (prefix: string) => MiddlewareScope[],
): AnyRouter {
  const router: AnyRouter & RouterParts = {
    [ROUTER]: true,
    [COLLECT]: collect,
    [SCOPES]: scopes,
    routes: (prefix = '') => collect({ ...NOTHING, prefix }),
  }
  return router
}

/** Returns the middleware that a router and its children add to the application, outside their routes. */
export function scopesOfRouter(router: AnyRouter, prefix = ''): MiddlewareScope[] {
  return (router as AnyRouter & RouterParts)[SCOPES]?.(prefix) ?? []
}

/**
 * Creates a router. Its middleware runs for its own routes and those of its children, never for an unmatched path.
 * @throws StartupError for an unknown option, an option of another type, or `auth: undefined`.
 */
export function createRouter<const Prefix extends string = ''>(
  options: GuardedRouterOptions<Prefix>,
): Router<true, Prefix>
export function createRouter<const Prefix extends string = ''>(
  options?: RouterOptions<Prefix>,
): Router<false, Prefix>
export function createRouter(options: RouterOptions = {}): object {
  checkRouterOptions(options)
  const entries: Entry[] = []
  const middleware: NamedMiddleware[] = []
  const origin = `router ${options.prefix ?? '/'}`

  function add(method: Method) {
    return function addRoute(path: string, ...rest: RouteArguments): Router {
      const parts = readRouteArguments({ method, path, rest, origin })
      entries.push({ kind: 'route', method, path, ...parts, place: callerOf(addRoute) })
      return router
    }
  }

  function use(...items: readonly [Middleware | AnyRouter]): Router {
    const item = onlyItem(items, `use() of ${origin}`)
    if (isRouter(item) && contains(item, router)) throw circular(origin)
    else if (isRouter(item)) entries.push({ kind: 'child', router: item })
    else if (typeof item !== 'function') throw notUsable(item, origin)
    else
      middleware.push({
        run: item,
        origin: item.name ? `${item.name} in ${origin}` : `middleware of ${origin}`,
      })
    return router
  }

  function collect(inherited: Inherited): Route[] {
    const own = inherit(inherited, options, middleware)
    return entries.flatMap((entry) =>
      entry.kind === 'child' ? collectFrom(entry.router, own) : [routeOf(entry, own, origin)],
    )
  }

  function scopes(prefix: string): MiddlewareScope[] {
    return entries.flatMap((entry) =>
      entry.kind === 'child' ? scopesOfRouter(entry.router, joinPath(prefix, options.prefix ?? '')) : [],
    )
  }

  const isInside = (other: AnyRouter): boolean =>
    entries.some((entry) => entry.kind === 'child' && contains(entry.router, other))
  const verbs = METHODS.map((method) => [method.toLowerCase(), add(method)])
  // The overloads of `AddRoute` type the untyped arguments of `add`.
  const router = Object.assign(routerOf(collect, scopes), Object.fromEntries(verbs), {
    use,
    [CONTAINS]: isInside,
  }) as Router
  return router
}

/** True for the same router, and for a router that contains the other at any depth. */
function contains(router: AnyRouter, other: AnyRouter): boolean {
  return router === other || (router as AnyRouter & RouterParts)[CONTAINS]?.(other) === true
}

function circular(origin: string): StartupError {
  return new StartupError(`use() of ${origin} was given a router that contains ${origin} itself.`, {
    code: 'MORTAR_USE',
    remedy: 'Remove one use() of the circle. For the same routes below two prefixes, make a router for each.',
  })
}

function notUsable(item: unknown, origin: string): StartupError {
  return new StartupError(
    `use() of ${origin} was given ${describeValue(item)}, which is not a router or middleware.`,
    {
      code: 'MORTAR_USE',
      remedy: 'Pass the result of createRouter, or a function (ctx, next). Wrap Koa middleware in fromKoa().',
    },
  )
}

/**
 * `createRouter` whose handlers see the members of the application's bricks: `routerFor<typeof app>({ prefix })`. A prefix
 * with parameters is a second type argument: `routerFor<typeof app, '/users/:id'>({ prefix: '/users/:id' })`.
 */
export function routerFor<A extends TypedApp, Prefix extends string = ''>(
  options: GuardedRouterOptions<string, PolicyNames<ServicesOf<A>>, RuleNames<ServicesOf<A>>>,
): AppRouter<MembersOf<A>, HandlerServices<A>, true, Prefix>
export function routerFor<A extends TypedApp, Prefix extends string = ''>(
  options?: RouterOptions<string, PolicyNames<ServicesOf<A>>, RuleNames<ServicesOf<A>>>,
): AppRouter<MembersOf<A>, HandlerServices<A>, false, Prefix>
export function routerFor(options?: RouterOptions): object {
  return createRouter(options)
}

/** True for a router, also from another copy of the package. */
export function isRouter(value: unknown): value is AnyRouter {
  return typeof value === 'object' && value !== null && ROUTER in value
}

function collectFrom(router: AnyRouter, inherited: Inherited): Route[] {
  return (router as AnyRouter & RouterParts)[COLLECT](inherited)
}

function routeOf(entry: Entry & { kind: 'route' }, own: Inherited, origin: string): Route {
  const { definition, upgrade } = entry
  const auth = definition.auth ?? own.auth
  // A key with the value undefined is kept, so that the check of definitions reports it.
  const limit = 'limit' in definition ? definition.limit : own.limit
  const tags = joined(own.tags, definition.tags)
  const problems = joined(own.problems, definition.problems)
  return {
    method: entry.method,
    path: joinPath(own.prefix, entry.path),
    definition: {
      ...definition,
      ...(auth === undefined ? {} : { auth }),
      ...(limit === undefined ? {} : { limit }),
      ...(tags && { tags }),
      ...(problems && { problems }),
      ...(own.hidden ? { hidden: true } : {}),
    },
    handler: entry.handler,
    ...(upgrade !== undefined && { upgrade }),
    middleware: own.middleware,
    origin,
    place: entry.place,
  }
}

/** A value that is not a list is kept, so that the check of definitions reports it. */
function joined<T>(inherited: readonly T[], given: readonly T[] | undefined): readonly T[] | undefined {
  const own: unknown = given ?? []
  if (!Array.isArray(own)) return given
  return inherited.length + own.length === 0 ? undefined : [...inherited, ...own]
}
