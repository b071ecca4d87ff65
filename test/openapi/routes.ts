import type { Route, RouteDefinition, Method } from '../../src/routing/route.ts'

/** A route as plain data: `routeOf('GET /users/:id', { auth: true })`. Its origin is a file named like the route. */
export function routeOf(line: string, definition: RouteDefinition = {}): Route {
  const [method, path] = line.split(' ') as [Method, string]
  return {
    method,
    path,
    definition,
    handler: () => undefined,
    middleware: [],
    origin: `routes${path}.${method}.ts`,
  }
}
