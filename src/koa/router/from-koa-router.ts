import type { Middleware as KoaMiddleware } from 'koa'
import { isUntouched } from '../koa-context.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { NotFound } from '../../errors/http-error.ts'
import { StartupError, StartupErrors } from '../../errors/startup-error.ts'
import type { KoaRouter } from '../../compat/koa-router.ts'
import { readLayers, type ReadLayers } from './koa-router-layers.ts'
import type {
  AuthRequirement,
  Handler,
  MiddlewareScope,
  Route,
  RouteDefinition,
} from '../../routing/route.ts'
import type { Inherited } from '../../routing/inherited.ts'
import { routerOf, type AnyRouter } from '../../routing/router.ts'
import { parsePattern, type Segment } from '../../routing/path-pattern.ts'
import { isObject } from '../../support/describe-value.ts'
import { joinPath } from '../../support/url-path.ts'
import { checkKoaRouter, type KoaRouterOptions } from './check-koa-router.ts'
import { fromKoa } from '../from-koa.ts'

/**
 * Converts a router of @koa/router 15: each of its layers becomes a route of the application, with the guard and the
 * tags given here. A request runs all layers that match it, in their order, as in Koa. `app.use()` mounts the result.
 * @throws StartupError for something that is not a router, and for unknown or wrong options. Layers that cannot be
 * routes are reported when the application starts.
 */
export function fromKoaRouter(router: KoaRouter, options: KoaRouterOptions = {}): AnyRouter {
  const source = checkKoaRouter(router, options)
  return routerOf(
    (inherited) => adopt(source, options, inherited),
    (prefix) => unmatchedScopes(source, options, prefix),
  )
}

function adopt(router: KoaRouter, options: KoaRouterOptions, inherited: Inherited): Route[] {
  const nested = nestKoaRouter(router, joinPath(inherited.prefix, options.prefix ?? ''))
  const definition = definitionOf(options, inherited)
  const layers = readLayers(nested.stack)
  refuseUnsupported(layers, options, definition.auth)
  const handler = handlerOf(nested.routes() as KoaMiddleware)
  return layers.routes.map(({ method, path, origin, sensitive }) => ({
    method,
    path,
    definition,
    handler,
    middleware: inherited.middleware,
    origin,
    adopted: { router: nested, sensitive },
  }))
}

function definitionOf(options: KoaRouterOptions, inherited: Inherited): RouteDefinition {
  const auth = options.auth ?? inherited.auth
  const tags = [...inherited.tags, ...(options.tags ?? [])]
  return {
    consumes: options.consumes ?? [],
    ...(auth === undefined ? {} : { auth }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(inherited.problems.length === 0 ? {} : { problems: inherited.problems }),
    ...((options.hidden ?? inherited.hidden) ? { hidden: true } : {}),
  }
}

/** Refuses plain middleware in a router with a guard, because it runs outside every guard. */
function refuseUnsupported(
  { unsupported }: ReadLayers,
  options: KoaRouterOptions,
  auth: AuthRequirement | undefined,
): void {
  if (unsupported.length === 0) return
  const isPlain = options.unsupported === 'middleware'
  if (isPlain && (auth === undefined || auth === false)) return
  const errors = unsupported.map(({ error }) => (isPlain ? unguarded(error) : error))
  if (errors.length === 1) throw errors[0]!
  throw new StartupErrors(`${errors.length} layers of a router of @koa/router cannot be routes.`, errors)
}

function unguarded(cause: StartupError): StartupError {
  return new StartupError(
    `${cause.message.split('\n')[0]!} As plain middleware, it would run without the guard of its router.`,
    {
      code: 'MORTAR_KOA_ROUTER_UNGUARDED',
      remedy: 'Rewrite the layer, or move it to a router without auth.',
      cause,
    },
  )
}

/** One handler serves every route of a router: the router itself finds the layers, as it does in Koa. */
function handlerOf(dispatch: KoaMiddleware): Handler {
  const run = fromKoa(async (koa) => {
    await dispatch(koa, nothingFurther)
    if (isUntouched(koa)) throw new Unanswered()
  })
  return async (ctx) => {
    const { koa, body } = ctx
    if (body !== undefined) (koa.request as { body?: unknown }).body = body
    // The user that the guard has checked replaces one from an outer Koa application.
    if (ctx.user !== null && isObject(koa.state)) koa.state['user'] = ctx.user
    // As in Koa, the status is 404 until the router sets a body or a status.
    if (isUntouched(koa)) koa.res.statusCode = 404
    try {
      return await run(ctx, nothingFurther)
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error
      // No layer set a response, so no route matched: Koa middleware in front sees a 404 and may still respond.
      ;(ctx as unknown as RequestContext).route = ''
      throw new NotFound(`There is nothing at ${ctx.path}.`)
    }
  }
}

class Unanswered extends NotFound {}

async function nothingFurther(): Promise<undefined> {}

/**
 * Returns the scope for requests that match no route. As `router.routes()` does, it sets the layers of the path for
 * `router.allowedMethods()`. It runs the layers that cannot be routes if the options ask for it.
 */
function unmatchedScopes(router: KoaRouter, options: KoaRouterOptions, prefix: string): MiddlewareScope[] {
  const nested = nestKoaRouter(router, joinPath(prefix, options.prefix ?? ''))
  const isPlain = options.unsupported === 'middleware'
  const plain = new Set(isPlain ? readLayers(nested.stack).unsupported.map(({ layer }) => layer) : [])
  const match: KoaRouter['match'] = (path, method) => {
    const found = nested.match(path, method)
    const pathAndMethod = found.pathAndMethod.filter(
      (layer) => layer.methods.length === 0 || plain.has(layer),
    )
    return { path: found.path, pathAndMethod, route: pathAndMethod.some((layer) => plain.has(layer)) }
  }
  const rest = Object.create(nested, { match: { value: match } }) as KoaRouter
  const origin = 'a router of @koa/router, for paths without a route'
  return [{ prefix: '/', middleware: { run: fromKoa(rest), origin, onlyUnmatched: true } }]
}

interface NestingRouter extends KoaRouter {
  use(path: string, middleware: unknown): unknown
}

type KoaRouterClass = new (options: object) => NestingRouter

/**
 * Nests a router below a prefix as @koa/router does, so that `ctx.params`, `ctx._matchedRoute` and `ctx.router.url()`
 * include the prefix. The given router is not changed; without a prefix it is returned itself.
 * @throws StartupError for a prefix that @koa/router cannot match.
 */
function nestKoaRouter(router: KoaRouter, prefix: string): KoaRouter {
  if (prefix === '/') return router
  const Class = router.constructor as unknown as KoaRouterClass
  const outer = new Class({ ...router.opts, prefix: '' })
  outer.use(koaPrefix(prefix), router.routes())
  return outer
}

function koaPrefix(prefix: string): string {
  const parts = parsePattern(prefix, 'a router of @koa/router').map((segment) => koaSegment(segment, prefix))
  return `/${parts.join('/')}`
}

function koaSegment(segment: Segment, prefix: string): string {
  if (segment.kind === 'static') return segment.value.replaceAll(/[{}()[\]+?!:*\\]/g, String.raw`\$&`)
  if (segment.kind === 'param' && /^\w+$/.test(segment.name)) return `:${segment.name}`
  throw new StartupError(`A router of @koa/router cannot be mounted below '${prefix}'.`, {
    code: 'MORTAR_KOA_ROUTER',
    remedy: "Use parameters of letters, digits and '_' in the prefix, and no catch-all.",
  })
}
