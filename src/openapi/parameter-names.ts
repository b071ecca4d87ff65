import { parsePattern, type Segment } from '../routing/path-pattern.ts'
import type { Route } from '../routing/route.ts'

/**
 * Returns the routes with one parameter name per position of a path, as OpenAPI requires (§4.8.8.1). Only routes of adopted
 * routers may differ: the name of another route comes first, then the first that is used there.
 */
export function withSharedNames(routes: readonly Route[]): readonly Route[] {
  const adopted = routes.filter((route) => route.adopted !== undefined)
  if (adopted.length === 0) return routes
  const rename = createParameterNames()
  for (const route of routes) if (route.adopted === undefined) rename(route.path)
  const paths = new Map(adopted.map((route) => [route, rename(route.path)]))
  return routes.map((route) => (paths.has(route) ? { ...route, path: paths.get(route)! } : route))
}

/**
 * Renames parameters to the first name at their position. A name that the path already contains gets a number:
 * `/users/:id/posts/:id2`.
 */
function createParameterNames(): (path: string) => string {
  const names = new Map<string, string>()
  return (path) => {
    const used = new Set<string>()
    const raw = path.split('/').slice(1)
    let position = ''
    const parts = parsePattern(path).map((segment, index) => {
      position += `/${segment.kind === 'static' ? segment.value : markOf(segment)}`
      if (segment.kind === 'static') return raw[index]!
      const name = names.get(position) ?? unusedName(segment.name, used)
      names.set(position, name)
      used.add(name)
      return `${markOf(segment)}${name}`
    })
    return `/${parts.join('/')}`
  }
}

/** Returns the name, or its first form with a number that is not used. */
export function unusedName(name: string, used: { has(name: string): boolean }): string {
  let number = 2
  let free = name
  while (used.has(free)) free = `${name}${number++}`
  return free
}

function markOf(segment: Segment): string {
  return segment.kind === 'param' ? ':' : '*'
}
