import type { Handler, NamedMiddleware, Route } from '../../routing/route.ts'
import type { RouteBatch } from '../../routing/route-sink.ts'
import type { Scopes } from '../../routing/middleware-scopes.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { MethodNotAllowed, NotFound } from '../../errors/http-error.ts'
import { answer, compileRoute, type CompiledRoute } from '../../pipeline/compile.ts'
import { fail, refuse } from '../../pipeline/error-boundary.ts'
import { Refusal, type PipelineRuntime } from '../../pipeline/step.ts'
import { compileAtStart, emptyRouteSet, type RouteSet, withBatch, withReplaced } from './route-set.ts'

/** The routes of an application; finds and runs the route of each request. */
export type Dispatcher = ReturnType<typeof createDispatcher>

/** Creates an empty dispatcher. */
export function createDispatcher() {
  let set = emptyRouteSet()
  let revision = 0
  let runtime: PipelineRuntime | undefined
  let unmatched = compileUnmatched(set.scopes, () => runtime!)

  function use(next: RouteSet): void {
    set = next
    unmatched = compileUnmatched(set.scopes, () => runtime!)
    revision++
  }

  let find = findRoute
  function findRoute(ctx: RequestContext): CompiledRoute {
    try {
      const match = set.table.find(ctx.method, ctx.path)
      if (match === undefined) return unmatched(ctx, set.table.allowed(ctx.path))
      ctx.params = match.params
      return match.target.run
    } catch (error) {
      return compileMalformed(error, set.scopes, runtime!)
    }
  }

  function dispatch(ctx: RequestContext): void | PromiseLike<void> {
    const run = find(ctx)
    // Without middleware and a credential, no code could catch the error of an unknown path, so none is created.
    if (run === unmatched.unknown && ctx.credential === null) return refuse(ctx, 'not_found', nothingAt(ctx))
    return answer(ctx, run, runtime!)
  }

  return {
    /** Adds routes and scopes together, or nothing. After `compile`, a late route works immediately. */
    add: (batch: RouteBatch) => use(withBatch(set, batch, { position: set.declared.length, runtime })),
    /** Adds scopes outside all scopes that were added before: those of bricks and of the application itself. */
    addFirst: (batch: RouteBatch) => use(withBatch(set, batch, { position: 0, runtime })),
    /**
     * Replaces the batch from the same directory, or changes nothing. Unchanged routes and scopes keep their compiled
     * form. Requests in flight finish with the routes that they began with.
     */
    replace: (batch: RouteBatch) => use(withReplaced(set, batch, runtime)),
    /** Compiles every route. @throws StartupErrors with the faults of all routes. */
    compile: (next: PipelineRuntime) => use(compileAtStart(set, (runtime = next))),
    /** Runs what `find` returns, before any route is looked up; undefined leads to the routes again. */
    divert: (first: ((ctx: RequestContext) => CompiledRoute | undefined) | undefined) =>
      void (find = first === undefined ? findRoute : (ctx) => first(ctx) ?? findRoute(ctx)),
    /** Sends the response to a request, errors included. Never throws. */
    dispatch,
    /** Runs a request up to its response value, for Koa middleware around it. Throws or rejects with the errors. */
    run: (ctx: RequestContext) => find(ctx)(ctx),
    /** Returns the route that matches, without running it; undefined if none does. */
    routeOf: (request: Pick<RequestContext, 'method' | 'path'>) => matchedRoute(request, set),
    /** Sends an error response. */
    fail: (ctx: RequestContext, error: unknown) => fail(ctx, error, runtime!),
    /** Returns the `HttpError` of the brick that knows an error without a status, else the error. */
    explainError: (thrown: unknown) => runtime!.explainError(thrown),
    get routes() {
      return set.entries.map(({ route }) => route)
    },
    /** The batches that were loaded from directories. */
    get batches() {
      return set.batches
    },
    /** Number that changes with every change of the routes. */
    get revision() {
      return revision
    },
  }
}

function matchedRoute(
  { method, path }: Pick<RequestContext, 'method' | 'path'>,
  { table }: RouteSet,
): Route | undefined {
  try {
    return table.find(method, path)?.target.route
  } catch {
    // A malformed path matches no route.
    return undefined
  }
}

/** A malformed path matches only the root prefix, so the middleware of the root wraps its error response. */
function compileMalformed(error: unknown, scopes: Scopes, runtime: PipelineRuntime): CompiledRoute {
  const route = answeringRoute(() => new Refusal(error))
  return compileRoute(route, scopes.chainFor('/'), runtime)
}

interface Unmatched {
  (ctx: RequestContext, allowed: readonly string[]): CompiledRoute
  /** The route for unknown paths outside every scope; compiled at the first such request. */
  unknown?: CompiledRoute
}

/**
 * Handles a request without a route: 404, 405 with the exact `Allow`, or 204 for `OPTIONS`. It runs through the same
 * pipeline, so that the middleware of its prefix wraps it. One compiled route is cached per chain of scopes.
 */
function compileUnmatched(scopes: Scopes, runtime: () => PipelineRuntime): Unmatched {
  const compiled = new Map<string, CompiledRoute>()
  const identities = new Map<NamedMiddleware, number>()
  const identity = (middleware: NamedMiddleware): number => {
    if (!identities.has(middleware)) identities.set(middleware, identities.size)
    return identities.get(middleware)!
  }
  const unmatched: Unmatched = (ctx, allowed) => {
    const chain = scopes.chainForPath(ctx.path)
    if (chain.length === 0 && allowed.length === 0)
      return (unmatched.unknown ??= compileRoute(unmatchedRoute(ctx, allowed), chain, runtime()))
    const key = `${chain.map(identity).join(',')}|${ctx.method === 'OPTIONS'}|${allowed.join()}`
    let run = compiled.get(key)
    if (!run) compiled.set(key, (run = compileRoute(unmatchedRoute(ctx, allowed), chain, runtime())))
    return run
  }
  return unmatched
}

function unmatchedRoute(ctx: RequestContext, allowed: readonly string[]): Route {
  if (ctx.method === 'OPTIONS' && allowed.length > 0)
    return answeringRoute((inner) => inner.set('Allow', allowed.join(', ')))
  return answeringRoute(
    (inner) =>
      new Refusal(allowed.length > 0 ? new MethodNotAllowed(allowed) : new NotFound(nothingAt(inner))),
  )
}

function nothingAt({ path }: { readonly path: string }): string {
  return `There is nothing at ${path}.`
}

/** Creates a public route outside the route table. */
function answeringRoute(handler: Handler): Route {
  return {
    method: 'GET',
    path: '',
    definition: { hidden: true },
    middleware: [],
    origin: 'the framework',
    handler,
  }
}
