import { StartupError } from '../../errors/startup-error.ts'
import type { KoaRouterLayer } from '../../compat/koa-router.ts'
import { expandKoaPath } from './koa-router-paths.ts'
import { METHODS, type Method, type Route } from '../../routing/route.ts'

/** A route that one or more layers declare. @koa/router runs them in order. */
export interface LayerRoute extends Pick<Route, 'method' | 'path' | 'origin'> {
  readonly sensitive: boolean
}

/** A layer that cannot be a route, with the reason. */
export interface UnsupportedLayer {
  readonly layer: KoaRouterLayer
  readonly error: StartupError
}

/** The routes of a router, each once, and the layers that cannot be routes. */
export interface ReadLayers {
  readonly routes: readonly LayerRoute[]
  readonly unsupported: readonly UnsupportedLayer[]
}

/**
 * Reads the layers of a router as routes. Layers with the same method and path are one route, with the first origin and
 * the first names.
 */
export function readLayers(layers: readonly KoaRouterLayer[]): ReadLayers {
  const routes = new Map<string, LayerRoute>()
  const unsupported: UnsupportedLayer[] = []
  for (const layer of layers.filter(({ methods }) => methods.length > 0))
    try {
      for (const route of routesOf(layer)) addOnce(routes, route)
    } catch (error) {
      if (!(error instanceof StartupError)) throw error
      unsupported.push({ layer, error })
    }
  return { routes: [...routes.values()], unsupported }
}

function addOnce(routes: Map<string, LayerRoute>, route: LayerRoute): void {
  const key = `${route.method} ${route.path.replaceAll(/(?<=\/[:*])[^/]+/g, '')}`
  if (!routes.has(key)) routes.set(key, route)
}

function routesOf(layer: KoaRouterLayer): LayerRoute[] {
  const origin = describeLayer(layer)
  const methods = methodsOf(layer)
  const sensitive = layer.opts.sensitive === true
  const paths = expandKoaPath(pathOf(layer), origin)
  return paths.flatMap((path) => methods.map((method) => ({ method, path, origin, sensitive })))
}

/** Returns the name of a layer for messages. */
function describeLayer({ name, path }: KoaRouterLayer): string {
  return `the @koa/router layer ${name === undefined || name === null ? '' : `'${String(name)}' `}${String(path)}`
}

function pathOf(layer: KoaRouterLayer): string {
  const { path, opts } = layer
  if (typeof path !== 'string' || opts.pathAsRegExp === true)
    throw refusal(layer, 'has a regular expression as its path', "Write the path with ':name' and '*name'")
  if (opts.end === false)
    throw refusal(layer, 'also matches everything below its path (end: false)', "End the path with '/*name'")
  return path
}

/** Returns the methods of a layer; `all` and `redirect` have every one. `GET` also serves `HEAD`, as in @koa/router. */
function methodsOf(layer: KoaRouterLayer): Method[] {
  const known = METHODS.filter((method) => layer.methods.includes(method))
  const other = layer.methods.find((method) => !known.includes(method as Method))
  if (other !== undefined && known.length < METHODS.length)
    throw refusal(layer, `has the method ${other}`, `Use one of ${METHODS.join(', ')}`)
  return known.filter((method) => method !== 'HEAD' || !known.includes('GET'))
}

function refusal(layer: KoaRouterLayer, found: string, remedy: string): StartupError {
  const name = describeLayer(layer)
  return new StartupError(`${name[0]!.toUpperCase()}${name.slice(1)} ${found}, so it cannot be a route.`, {
    code: 'MORTAR_KOA_ROUTER_LAYER',
    remedy: `${remedy}, or run such layers as plain middleware: fromKoaRouter(router, { unsupported: 'middleware' }).`,
  })
}
