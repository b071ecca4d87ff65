import { StartupError } from '../errors/startup-error.ts'
import { filesOf, parsePattern, type Segment } from '../routing/path-pattern.ts'
import { describeRoute, type Route } from '../routing/route.ts'

/**
 * Returns the route's own `operationId`, or one made from method and path: `getUsersById`, `postAuthLogin`, `getRoot`.
 */
export function operationIdOf(route: Route): string {
  const segments = parsePattern(route.path, route.origin)
  const name = segments.length === 0 ? 'Root' : segments.map(wordOf).join('')
  return route.definition.operationId ?? `${route.method.toLowerCase()}${name}`
}

/**
 * Returns the ids of all routes. Each is unique, since generated clients name their functions by them. Layers of a Koa
 * router cannot declare one, so theirs get a number where two are equal.
 * @throws StartupError `MORTAR_OPENAPI_OPERATION_ID` naming both origins.
 */
export function operationIds(routes: readonly Route[]): ReadonlyMap<Route, string> {
  const owners = new Map<string, Route>()
  return new Map(
    routes.toSorted(adoptedLast).map((route) => {
      const own = operationIdOf(route)
      let id = own
      for (let number = 2; owners.has(id); number++) {
        if (route.adopted === undefined) throw clash(id, owners.get(id)!, route)
        id = `${own}${number}`
      }
      owners.set(id, route)
      return [route, id]
    }),
  )
}

function adoptedLast({ adopted: first }: Route, { adopted: second }: Route): number {
  return Number(first !== undefined) - Number(second !== undefined)
}

function clash(id: string, first: Route, second: Route): StartupError {
  return new StartupError(
    `Two operations of the OpenAPI document have the id '${id}': ${describeRoute(first)} and ${describeRoute(second)}.`,
    {
      code: 'MORTAR_OPENAPI_OPERATION_ID',
      remedy: 'Use another `operationId` for one of the two.',
      files: filesOf(first.origin, second.origin),
    },
  )
}

function wordOf(segment: Segment): string {
  return segment.kind === 'static'
    ? pascalCase(decodeURIComponent(segment.value))
    : `By${pascalCase(segment.name)}`
}

function pascalCase(text: string): string {
  return (
    text
      // Other numerals, such as exponents, are not characters of a function's name.
      .split(/[^\p{L}\p{Nd}]+/u)
      .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
      .join('')
  )
}
