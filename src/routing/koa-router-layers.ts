import { StartupError } from '../errors/startup-error.ts'
import { createParameterNames, expandKoaPath } from './koa-router-paths.ts'
import { METHODS, type Method } from './route.ts'

/** A layer of a router of @koa/router 15; one without methods is middleware. */
export interface KoaRouterLayer {
  readonly name?: string | undefined
  readonly methods: readonly string[]
  readonly path: string | RegExp
  readonly opts: { readonly end?: boolean; readonly pathAsRegExp?: boolean }
}

/** The part of a router of @koa/router 15 that Mortar reads. */
export interface KoaRouter {
  readonly stack: readonly KoaRouterLayer[]
  readonly opts: object
  routes(): unknown
}

/** A route that one or more layers declare. @koa/router runs them in order. */
export interface LayerRoute {
  readonly method: Method
  readonly path: string
  readonly origin: string
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
 * Reads the layers of a router as routes. Layers with the same method and path are one route, with the first origin.
 */
export function readLayers(layers: readonly KoaRouterLayer[]): ReadLayers {
  const routes = new Map<string, LayerRoute>()
  const unsupported: UnsupportedLayer[] = []
  const renamed = createParameterNames()
  for (const layer of layers.filter(({ methods }) => methods.length > 0))
    try {
      for (const route of routesOf(layer, renamed)) addOnce(routes, route)
    } catch (error) {
      if (!(error instanceof StartupError)) throw error
      unsupported.push({ layer, error })
    }
  return { routes: [...routes.values()], unsupported }
}

function addOnce(routes: Map<string, LayerRoute>, route: LayerRoute): void {
  const key = `${route.method} ${route.path}`
  if (!routes.has(key)) routes.set(key, route)
}

function routesOf(layer: KoaRouterLayer, renamed: (path: string) => string): LayerRoute[] {
  const origin = describeLayer(layer)
  const methods = methodsOf(layer)
  const paths = expandKoaPath(pathOf(layer), origin).map(renamed)
  return paths.flatMap((path) => methods.map((method) => ({ method, path, origin })))
}

/** Returns the name of a layer for messages. */
function describeLayer({ name, path }: KoaRouterLayer): string {
  return `the @koa/router layer ${name === undefined ? '' : `'${name}' `}${String(path)}`
}

function pathOf(layer: KoaRouterLayer): string {
  const { path, opts } = layer
  if (typeof path !== 'string' || opts.pathAsRegExp === true)
    throw refusal(layer, 'has a regular expression as its path', "Write the path with ':name' and '*name'")
  if (opts.end === false)
    throw refusal(layer, 'also matches everything below its path (end: false)', "End the path with '/*name'")
  return path
}

/** Returns the methods of a layer. `GET` also serves `HEAD`, as in @koa/router. */
function methodsOf(layer: KoaRouterLayer): Method[] {
  const known = METHODS.filter((method) => layer.methods.includes(method))
  const other = layer.methods.find((method) => !known.includes(method as Method))
  if (layer.methods.length > METHODS.length)
    throw refusal(
      layer,
      'accepts every method (all, redirect)',
      `Name its methods: router.register(path, ['GET', 'POST'], handler)`,
    )
  if (other !== undefined) throw refusal(layer, `has the method ${other}`, `Use one of ${METHODS.join(', ')}`)
  return known.filter((method) => method !== 'HEAD' || !known.includes('GET'))
}

function refusal(layer: KoaRouterLayer, found: string, remedy: string): StartupError {
  return new StartupError(`${capitalised(describeLayer(layer))} ${found}, so it cannot be a route.`, {
    code: 'MORTAR_KOA_ROUTER_LAYER',
    remedy: `${remedy}, or run such layers as plain middleware: fromKoaRouter(router, { unsupported: 'middleware' }).`,
  })
}

function capitalised(text: string): string {
  return text[0]!.toUpperCase() + text.slice(1)
}
