import type { MiddlewareScope, Route } from '../routing/route.ts'
import type { RouteBatch } from '../routing/route-sink.ts'
import { createRouteTable, type RouteTable, type TableEntry } from '../routing/route-table.ts'
import { createScopes, type Scopes } from '../routing/middleware-scopes.ts'
import { StartupError, StartupErrors } from '../errors/startup-error.ts'
import { compileRoute, type CompiledRoute } from '../pipeline/compile.ts'
import type { PipelineRuntime } from '../pipeline/step.ts'

/** A route and what it was compiled to. */
export interface Entry {
  readonly route: Route
  run: CompiledRoute
}

/** The routes of an application, ready to be searched. */
export interface RouteSet {
  readonly table: RouteTable<Entry>
  readonly entries: readonly Entry[]
  /** Scopes in the order in which they wrap. */
  readonly declared: readonly MiddlewareScope[]
  readonly scopes: Scopes
  /** What came from directories. */
  readonly batches: readonly RouteBatch[]
}

/** No routes yet. */
export function emptyRouteSet(): RouteSet {
  return { table: createRouteTable(), entries: [], declared: [], scopes: createScopes(), batches: [] }
}

/** Adds a batch, its scopes at a position. What can be refused comes first, so that a refused batch changes nothing. */
export function withBatch(
  set: RouteSet,
  batch: RouteBatch,
  { position, runtime }: { readonly position: number; readonly runtime: PipelineRuntime | undefined },
): RouteSet {
  const fresh = batch.routes.map((route): Entry => ({ route, run: notCompiled }))
  const declared = set.declared.toSpliced(position, 0, ...batch.scopes)
  const scopes = scopesOf(declared)
  if (runtime) compileAll(fresh, scopes, runtime)
  set.table.addAll(fresh.map(tableEntry))
  const entries = [...set.entries, ...fresh]
  if (runtime && batch.scopes.length > 0) compileAll(entries, scopes, runtime)
  const batches = batch.directory === undefined ? set.batches : [...set.batches, batch]
  return { table: set.table, entries, declared, scopes, batches }
}

/** Puts a batch in the place of the one from the same directory. A set that requests are using is left as it is. */
export function withReplaced(
  set: RouteSet,
  batch: RouteBatch,
  runtime: PipelineRuntime | undefined,
): RouteSet {
  const old = set.batches.find(({ directory }) => directory === batch.directory)
  if (old === undefined) return withBatch(set, batch, { position: set.declared.length, runtime })
  const declared = replaceScopes(set.declared, old.scopes, batch.scopes)
  const scopes = declared === set.declared ? set.scopes : scopesOf(declared)
  const entries = replaceEntries(set.entries, old.routes, batch.routes)
  const stale = scopes === set.scopes ? entries.filter(({ run }) => run === notCompiled) : entries
  const table = createRouteTable(entries.map(tableEntry))
  if (runtime) compileAll(stale, scopes, runtime)
  const batches = set.batches.map((present) => (present === old ? batch : present))
  return { table, entries, declared, scopes, batches }
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

/** Compiles entries in place. @throws StartupErrors with everything that is wrong with any of them. */
export function compileAll(entries: readonly Entry[], scopes: Scopes, runtime: PipelineRuntime): void {
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
