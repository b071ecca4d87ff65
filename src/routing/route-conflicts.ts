import { StartupError, type StartupErrorOptions } from '../errors/startup-error.ts'
import { placeOfError, type CodePlace } from '../support/place-of-error.ts'
import { filesOf, type Segment } from './path-pattern.ts'
import { type AdoptedLayer, describeRoute, type Route } from './route.ts'

/** The properties of a route that can cause a conflict. */
export interface RegisteredRoute extends Pick<Route, 'method' | 'path' | 'origin'> {
  readonly segments: readonly Segment[]
  readonly adopted?: AdoptedLayer | undefined
  readonly place?: CodePlace | undefined
}

/** Stores the registered routes and refuses a new route that conflicts with one of them. */
export type ConflictRegister = ReturnType<typeof createConflictRegister>

/** Creates an empty register. */
export function createConflictRegister() {
  const byEndpoint = new Map<string, RegisteredRoute>()
  const byPosition = new Map<string, { readonly name: string; readonly route: RegisteredRoute }>()
  const byFoldedPath = new Map<string, { readonly shape: string; readonly route: RegisteredRoute }>()

  function check(route: RegisteredRoute, shape: string, folded: string): void {
    for (const [position, name] of namesOf(route)) {
      const present = byPosition.get(position)
      if (present && present.name !== name)
        throw conflict(
          `One position of the path has two parameter names: '${present.name}' in ${describe(present.route)} and '${name}' in ${describe(route)}.`,
          { code: 'MORTAR_ROUTE_PARAMETER_NAMES', remedy: 'Use one name in both.' },
          [present.route, route],
        )
    }
    const duplicate = byEndpoint.get(`${route.method} ${shape}`)
    if (duplicate)
      throw conflict(
        `${route.method} ${route.path} is declared twice: in ${originOf(duplicate)} and in ${originOf(route)}.`,
        {
          code: 'MORTAR_ROUTE_DUPLICATE',
          remedy:
            originOf(duplicate) === originOf(route)
              ? 'It was added twice: call loadRoutes() once per directory, and mount a router once per prefix.'
              : 'Remove one of the two, or give it another path or method.',
        },
        [duplicate, route],
      )
    const { shape: other = shape, route: first = route } = byFoldedPath.get(folded) ?? {}
    if (other !== shape && !mayDifferInCase(first, route))
      throw conflict(
        `Two paths differ in case only: ${first.path} in ${originOf(first)} and ${route.path} in ${originOf(route)}.`,
        {
          code: 'MORTAR_ROUTE_CASE',
          remedy: 'Paths are case-sensitive: write both in the same case, preferably lower case.',
        },
        [first, route],
      )
  }

  return {
    /**
     * Registers the route, or changes nothing.
     * @throws StartupError `MORTAR_ROUTE_DUPLICATE`, `MORTAR_ROUTE_PARAMETER_NAMES` or `MORTAR_ROUTE_CASE` with both
     * origins.
     */
    take(route: RegisteredRoute) {
      const shape = shapeOf(route.segments)
      const folded = fold(shape)
      check(route, shape, folded)
      byEndpoint.set(`${route.method} ${shape}`, route)
      if (!byFoldedPath.has(folded)) byFoldedPath.set(folded, { shape, route })
      for (const [position, name] of namesOf(route))
        if (!byPosition.has(position)) byPosition.set(position, { name, route })
    },
  }
}

/** Returns the pattern without its parameter names: two patterns of one shape match the same paths. */
function shapeOf(segments: readonly Segment[]): string {
  return `/${segments.map(shapeOfSegment).join('/')}`
}

function shapeOfSegment(segment: Segment): string {
  if (segment.kind === 'static') return segment.value
  return segment.kind === 'param' ? '{}' : '{*}'
}

/** Folds case, also in escapes: `É` is `%C3%89`, `é` is `%C3%A9`. An escaped slash stays escaped. */
function fold(shape: string): string {
  if (!shape.includes('%')) return shape.toLowerCase()
  return shape
    .split('/')
    .map((part) => decodeURIComponent(part.replaceAll('%2F', '%252F')).toLowerCase())
    .join('/')
}

/** True for layers of one router, which finds the layer itself, and for layers that distinguish the case. */
function mayDifferInCase({ adopted: first }: RegisteredRoute, { adopted: second }: RegisteredRoute): boolean {
  if (first === undefined || second === undefined) return false
  return first.router === second.router || (first.sensitive && second.sensitive)
}

/** Yields the positions whose parameter names must agree. A layer of a Koa router keeps its own names. */
function* namesOf({ segments, adopted }: RegisteredRoute): Generator<[position: string, name: string]> {
  if (adopted !== undefined) return
  let position = ''
  for (const segment of segments) {
    position += `/${shapeOfSegment(segment)}`
    if (segment.kind !== 'static') yield [position, segment.name]
  }
}

/** Names the origin of a route, and the line of a route in code: `router / (app.ts:12:8)`. */
function originOf({ origin, place }: RegisteredRoute): string {
  const at = placeOfError(place)
  return at === undefined ? origin : `${origin} (${at})`
}

const describe = (route: RegisteredRoute): string => describeRoute({ ...route, origin: originOf(route) })

function conflict(
  found: string,
  advice: Pick<StartupErrorOptions, 'code' | 'remedy'>,
  routes: readonly RegisteredRoute[],
): StartupError {
  return new StartupError(found, { ...advice, files: filesOf(...routes.map(({ origin }) => origin)) })
}
