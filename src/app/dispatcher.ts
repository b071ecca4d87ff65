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
  /**
   * Puts a batch in the place of the one that came from the same directory, or changes nothing. Routes and scopes that
   * are in both stay compiled as they are; requests under way finish with what they began with.
   */
  replace(batch: RouteBatch): void
  /** Adds what lies outside of everything that was added before: bricks and the application itself. */
  addFirst(batch: RouteBatch): void
  /** Compiles every route. @throws StartupErrors with everything that is wrong with any of them. */
  compile(runtime: PipelineRuntime): void
  /** Answers a request. */
  dispatch(ctx: RequestContext): void | PromiseLike<void>
  readonly routes: readonly Route[]
  /** What came from directories, each with its directory. */
  readonly batches: readonly RouteBatch[]
  /** Another number after every change of the routes. */
  readonly revision: number
}

/** Makes an empty dispatcher. */
export function createDispatcher(): Dispatcher {
  let table: RouteTable<Entry> = createRouteTable()
  let batches: readonly RouteBatch[] = []
  let revision = 0
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
    if (batch.directory !== undefined) batches = [...batches, batch]
    revision++
  }

  function replace(batch: RouteBatch): void {
    const old = batches.find(({ directory }) => directory === batch.directory)
    if (old === undefined) return add(batch)
    const nextDeclared = replaceScopes(declared, old.scopes, batch.scopes)
    const nextScopes = nextDeclared === declared ? scopes : scopesOf(nextDeclared)
    const nextEntries = replaceEntries(entries, old.routes, batch.routes)
    const stale = nextScopes === scopes ? nextEntries.filter(({ run }) => run === notCompiled) : nextEntries
    if (runtime) compileAll(stale, nextScopes, runtime)
    table = createRouteTable(nextEntries.map(tableEntry))
    declared = nextDeclared
    scopes = nextScopes
    entries = nextEntries
    unmatched = compileUnmatched(scopes, () => runtime!)
    batches = batches.map((present) => (present === old ? batch : present))
    revision++
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
    replace,
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
    get batches() {
      return batches
    },
    get revision() {
      return revision
    },
  }
}

/** The same list when nothing changed, so that no route needs to be compiled again. */
function replaceScopes(
  declared: readonly MiddlewareScope[],
  old: readonly MiddlewareScope[],
  fresh: readonly MiddlewareScope[],
): readonly MiddlewareScope[] {
  if (old.length === fresh.length && old.every((scope, index) => scope === fresh[index])) return declared
  const others = declared.filter((scope) => !old.includes(scope))
  const position = old[0] === undefined ? others.length : declared.indexOf(old[0])
  return others.toSpliced(position, 0, ...fresh)
}

/** Copies, so that entries in use keep what they run until the whole batch is known to be sound. */
function replaceEntries(
  entries: readonly Entry[],
  old: readonly Route[],
  fresh: readonly Route[],
): readonly Entry[] {
  const gone = new Set(old)
  const compiled = new Map(entries.map((entry) => [entry.route, entry.run]))
  return [
    ...entries.filter(({ route }) => !gone.has(route)).map((entry) => ({ ...entry })),
    ...fresh.map((route): Entry => ({ route, run: compiled.get(route) ?? notCompiled })),
  ]
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
