import type { Handler, MiddlewareScope, NamedMiddleware, Route } from '../routing/route.ts'
import type { RouteBatch } from '../routing/route-sink.ts'
import { createRouteTable, type RouteTable, type TableEntry } from '../routing/route-table.ts'
import { createScopes, type Scopes } from '../routing/middleware-scopes.ts'
import type { RequestContext } from '../context/request-context.ts'
import { MethodNotAllowed, NotFound } from '../errors/http-error.ts'
import { StartupError, StartupErrors } from '../errors/startup-error.ts'
import { compileRoute, type CompiledRoute } from '../pipeline/compile.ts'
import type { PipelineRuntime } from '../pipeline/runtime.ts'

interface Entry {
  readonly route: Route
  run: CompiledRoute
}

/** The routes of an application and the way of a request to one of them. */
export interface Dispatcher {
  /** Adds routes and scopes together, or nothing. Once compiled, a late route works at once. */
  add(batch: RouteBatch): void
  /** Adds what lies outside of everything that was added before: bricks and the application itself. */
  addFirst(batch: RouteBatch): void
  /** Compiles every route. @throws StartupErrors with everything that is wrong with any of them. */
  compile(runtime: PipelineRuntime): void
  /** Answers a request. */
  dispatch(ctx: RequestContext): void | PromiseLike<void>
  readonly routes: readonly Route[]
}

/** Makes an empty dispatcher. */
export function createDispatcher(): Dispatcher {
  const table: RouteTable<Entry> = createRouteTable()
  let declared: readonly MiddlewareScope[] = []
  let scopes: Scopes = createScopes()
  let entries: readonly Entry[] = []
  let runtime: PipelineRuntime | undefined
  let unmatched = compileUnmatched(scopes, () => runtime!)

  function add(batch: RouteBatch, position = declared.length): void {
    const fresh = batch.routes.map((route): Entry => ({ route, run: notCompiled }))
    const nextDeclared = declared.toSpliced(position, 0, ...batch.scopes)
    const nextScopes = scopesOf(nextDeclared)
    // What can be refused comes first, so that a refused batch leaves everything as it was.
    if (runtime) compileAll(fresh, nextScopes, runtime)
    table.addAll(fresh.map(tableEntry))
    declared = nextDeclared
    scopes = nextScopes
    entries = [...entries, ...fresh]
    if (runtime && batch.scopes.length > 0) compileAll(entries, scopes, runtime)
    unmatched = compileUnmatched(scopes, () => runtime!)
  }

  /** A path that cannot be read lies under no prefix but the root, whose middleware wraps this answer too. */
  function malformed(ctx: RequestContext, error: unknown): void | PromiseLike<void> {
    const route = answeringRoute(() => {
      throw error
    })
    return compileRoute(route, scopes.chainFor('/'), runtime!)(ctx)
  }

  return {
    add: (batch) => add(batch),
    addFirst: (batch) => add(batch, 0),
    compile(next) {
      runtime = next
      compileAll(entries, scopes, next)
    },
    dispatch(ctx) {
      try {
        const match = table.find(ctx.method, ctx.path)
        if (match === undefined) return unmatched(ctx, table.allowed(ctx.path))
        ctx.params = match.params
        return match.target.run(ctx)
      } catch (error) {
        return malformed(ctx, error)
      }
    },
    get routes() {
      return entries.map(({ route }) => route)
    },
  }
}

function scopesOf(declared: readonly MiddlewareScope[]): Scopes {
  const scopes = createScopes()
  for (const scope of declared) scopes.add(scope)
  return scopes
}

function tableEntry(entry: Entry): TableEntry<Entry> {
  const { method, path, origin } = entry.route
  return { method, path, origin, target: entry }
}

function compileAll(entries: readonly Entry[], scopes: Scopes, runtime: PipelineRuntime): void {
  const errors: StartupError[] = []
  for (const entry of entries)
    try {
      entry.run = compileRoute(entry.route, scopes.chainFor(entry.route.path), runtime)
    } catch (error) {
      if (!(error instanceof StartupError)) throw error
      errors.push(error)
    }
  if (errors.length === 1) throw errors[0]!
  if (errors.length > 1) throw new StartupErrors(`${errors.length} routes are set up wrongly.`, errors)
}

/** Closed until compiled: a route whose guard is not known yet is not served. */
function notCompiled(): never {
  throw new Error('The route was not compiled.')
}

type Unmatched = (ctx: RequestContext, allowed: readonly string[]) => void | PromiseLike<void>

/**
 * A request that no route takes goes the same road, so that the middleware of its prefix wraps it: 404, 405 with the
 * exact `Allow`, or 204 for `OPTIONS`. One compiled route for each chain of scopes is kept.
 */
function compileUnmatched(scopes: Scopes, runtime: () => PipelineRuntime): Unmatched {
  const compiled = new Map<string, CompiledRoute>()
  const identities = new Map<NamedMiddleware, number>()
  const identity = (middleware: NamedMiddleware): number => {
    if (!identities.has(middleware)) identities.set(middleware, identities.size)
    return identities.get(middleware)!
  }
  return (ctx, allowed) => {
    const chain = scopes.chainForPath(ctx.path)
    const key = `${chain.map(identity).join(',')}|${ctx.method === 'OPTIONS'}|${allowed.join()}`
    let run = compiled.get(key)
    if (!run) compiled.set(key, (run = compileRoute(unmatchedRoute(ctx, allowed), chain, runtime())))
    return run(ctx)
  }
}

function unmatchedRoute(ctx: RequestContext, allowed: readonly string[]): Route {
  if (ctx.method === 'OPTIONS' && allowed.length > 0)
    return answeringRoute((inner) => inner.set('Allow', allowed.join(', ')))
  return answeringRoute((inner) => {
    if (allowed.length > 0) throw new MethodNotAllowed(allowed)
    throw new NotFound(`There is nothing at ${inner.path}.`)
  })
}

/** A public route outside the table. */
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
