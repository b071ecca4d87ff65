import type { MiddlewareScope, Route } from '../../routing/route.ts'
import type { RouteBatch } from '../../routing/route-sink.ts'
import { createRouteTable, type RouteTable, type TableEntry } from '../../routing/route-table.ts'
import { createScopes, type Scopes } from '../../routing/middleware-scopes.ts'
import { collectFaults } from '../../errors/collect-faults.ts'
import { StartupError, StartupErrors } from '../../errors/startup-error.ts'
import { compileRoute, type CompiledRoute } from '../../pipeline/compile.ts'
import type { PipelineRuntime } from '../../pipeline/step.ts'
import { isDevServer } from '../../support/env/environment.ts'

/** A route and its compiled form. */
export interface Entry {
  readonly route: Route
  run: CompiledRoute
}

/** The searchable routes of an application. */
export interface RouteSet {
  readonly table: RouteTable<Entry>
  readonly entries: readonly Entry[]
  /** Scopes in wrapping order. */
  readonly declared: readonly MiddlewareScope[]
  readonly scopes: Scopes
  /** The batches that were loaded from directories. */
  readonly batches: readonly RouteBatch[]
}

/** Creates a set without routes. */
export function emptyRouteSet(): RouteSet {
  return { table: createRouteTable(), entries: [], declared: [], scopes: createScopes(), batches: [] }
}

/** Adds a batch, with its scopes at a position. All checks run first, so that a refused batch changes nothing. */
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

/** Replaces the batch from the same directory. Returns a new set, because requests may be using the old one. */
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

/** Returns the same list if nothing changed, so that no route is compiled again. */
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

/** Returns copies: entries in use keep their compiled routes until the whole batch has passed its checks. */
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
  const { method, path, origin, adopted, place } = entry.route
  return { method, path, origin, adopted, place, target: entry }
}

/**
 * Compiles all routes at the start. Under `mortar dev`, a route of a file with invalid settings throws its error instead.
 * @throws StartupErrors with the faults of all other entries.
 */
export function compileAtStart(set: RouteSet, runtime: PipelineRuntime): RouteSet {
  try {
    compileAll(set.entries, set.scopes, runtime)
    return set
  } catch (error) {
    if (!isDevServer() || runtime.environment === 'production' || !(error instanceof StartupError))
      throw error
    const errors = error instanceof StartupErrors ? error.errors : [error]
    const broken = new Map(errors.flatMap((each) => each.files.map((file) => [file, each] as const)))
    let around = set
    for (const batch of set.batches) around = withReplaced(around, withBroken(batch, broken), undefined)
    compileAll(around.entries, around.scopes, runtime)
    return around
  }
}

function withBroken(batch: RouteBatch, errors: ReadonlyMap<string, StartupError>): RouteBatch {
  const broken = new Map(batch.broken)
  const routes = batch.routes.map((route): Route => {
    const error = errors.get(route.origin)
    if (error === undefined) return route
    broken.set(route.origin, error)
    return { ...route, definition: { hidden: true, consumes: [] }, handler: () => Promise.reject(error) }
  })
  return { ...batch, routes, broken }
}

/** Compiles entries in place. @throws StartupErrors with the faults of all entries. */
export function compileAll(entries: readonly Entry[], scopes: Scopes, runtime: PipelineRuntime): void {
  const { read, throwAll } = collectFaults()
  for (const entry of entries)
    read(() => {
      entry.run = compileRoute(entry.route, scopes.chainFor(entry.route.path), runtime)
    })
  throwAll((count) => `${count} routes have invalid settings.`)
}

/** Refuses to run a route before it is compiled, because its guard is not known yet. */
function notCompiled(): never {
  throw new Error('The route was not compiled.')
}
