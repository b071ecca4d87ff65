import { StartupError, StartupErrors } from '../errors/startup-error.ts'
import { describeValue, isClass, isPlainObject } from '../support/describe-value.ts'
import { checkDefinition } from './check-definition.ts'
import { checkDefinitionKeys } from './check-keys.ts'
import { isDefinedRoute, type DefinedRoute } from './define-route.ts'
import { parameterNames, parsePattern } from './path-pattern.ts'
import type { Handler, Method, Route, RouteDefinition } from './route.ts'

/**
 * Checks the definitions of routes in routers with the same rules as route files: a mistyped `auth` must not make a
 * route public.
 * @throws StartupError, or StartupErrors with every finding of every route.
 */
export function checkRoutes(routes: readonly Route[]): void {
  const errors = routes.flatMap(findingsOf)
  if (errors.length === 1) throw errors[0]!
  if (errors.length > 1)
    throw new StartupErrors(`The routes of routers have ${errors.length} faults.`, errors)
}

function findingsOf({ method, path, definition, origin }: Route): StartupError[] {
  const parameters = parameterNames(parsePattern(path, origin))
  const findings = [
    ...checkDefinitionKeys(Object.keys(definition)),
    ...checkDefinition({ ...definition }, { method, parameters }),
  ]
  return findings.map(
    ({ code, found, remedy }) =>
      new StartupError(`${method} ${path} of ${origin} ${found}.`, { code, remedy, files: [origin] }),
  )
}

/** Arguments of a method of a router, after the path. */
export type RouteArguments = readonly [Handler | DefinedRoute] | readonly [RouteDefinition, Handler]

/** A call of a method of a router. */
export interface RouteCall {
  readonly method: Method
  readonly path: unknown
  readonly rest: readonly unknown[]
  readonly origin: string
}

/** A route without its method and path. */
export type RouteParts = Pick<Route, 'definition' | 'handler' | 'upgrade'>

/**
 * Checks and reads a call such as `router.get(path, definition, handler)`. Another framework runs all functions before the
 * last one: here nobody would call them, and a guard among them would leave the route open.
 * @throws StartupError for a path that is not a string, another definition than an object, and a handler that cannot be
 * called.
 */
export function readRouteArguments({ method, path, rest, origin }: RouteCall): RouteParts {
  if (typeof path !== 'string')
    throw new StartupError(`A path of ${method} in ${origin} is ${describeValue(path)}, not a string.`, {
      code: 'MORTAR_ROUTE_PATTERN_SEGMENT',
      remedy: "Write the path as a string with parameters, such as '/users/:id'.",
    })
  const route = `${method} ${path} in ${origin}`
  const [first, ...more] = rest
  const parts =
    more.length > 0 || !isDefinedRoute(first)
      ? { definition: more.length === 0 ? {} : first, handler: rest.at(-1) }
      : first
  const { definition, handler } = parts
  if (typeof handler !== 'function' || isClass(handler)) throw notAHandler(route, handler)
  if (rest.length > 2) throw notADefinition(`${route} was given ${rest.length} arguments after the path`)
  if (!isPlainObject(definition))
    throw notADefinition(`${route} was given ${describeValue(definition)} in place of a definition`)
  return parts as RouteParts
}

function notAHandler(route: string, handler: unknown): StartupError {
  const found = isClass(handler) ? 'has a class in place of a handler' : 'has no handler function'
  return new StartupError(`${route} ${found}.`, {
    code: 'MORTAR_HANDLER_NOT_A_FUNCTION',
    remedy: remedyForHandler(handler),
  })
}

function remedyForHandler(handler: unknown): string {
  if (isClass(handler)) return 'Pass a function (ctx) => …; a class can be a service of app.provide().'
  if (isDefinedRoute(handler))
    return 'A route made by defineRoute() has its definition: pass it alone, (path, route).'
  return 'Pass the handler itself as the last argument, not the result of calling it.'
}

function notADefinition(found: string): StartupError {
  return new StartupError(`${found}.`, {
    code: 'MORTAR_ROUTE_DEFINITION',
    remedy:
      'Write (path, handler) or (path, definition, handler). A guard is `auth` of the definition; other functions before ' +
      'the handler are middleware of a router: router.use(middleware).',
  })
}

/**
 * Returns the single argument of `use()`.
 * @throws StartupError for several: the second middleware or router would be ignored.
 */
export function onlyItem<Item>(items: readonly [Item], of: string): Item {
  const { length }: readonly unknown[] = items
  if (length <= 1) return items[0]
  throw new StartupError(`${of} was given ${length} arguments, and would ignore all but the first.`, {
    code: 'MORTAR_USE',
    remedy:
      'Call it once for each middleware, router or brick. A prefix is an option of the router: createRouter({ prefix }).',
  })
}
