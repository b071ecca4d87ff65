import { canonicalPath, withoutTrailingSlash } from './canonical-path.ts'
import { parameterNames, parsePattern, patternOf, type Segment } from './path-pattern.ts'
import { createConflictRegister } from './route-conflicts.ts'
import { METHODS, type Method } from './route.ts'
import {
  capturedParams,
  createNode,
  endpointFor,
  endpointsAt,
  searchTrie,
  type Endpoint,
  type Endpoints,
} from './segment-trie.ts'

/** What a request path led to. `params` has own keys only, each value percent-decoded once. */
export interface Match<T> {
  readonly target: T
  readonly params: Readonly<Record<string, string>>
}

/** One route of a table; `origin` is where it was declared, for messages. */
export interface TableEntry<T> {
  readonly method: Method
  readonly path: string
  readonly target: T
  readonly origin: string
}

/**
 * Which route answers a method and a path. The most specific pattern that takes the method wins, per segment static
 * before parameter before catch-all, whatever the order of registration. `HEAD` falls back to `GET`.
 */
export interface RouteTable<T> {
  /**
   * Adds a route, or changes nothing.
   * @throws StartupError for a bad pattern or a conflict, naming both origins.
   */
  add(method: Method, path: string, target: T, origin: string): void
  /**
   * @returns the match, or undefined when no pattern of this path takes the method.
   * @throws BadRequest `malformed_path` for a malformed escape, or a `..` in a catch-all.
   */
  find(method: string, path: string): Match<T> | undefined
  /**
   * The exact `Allow` list of a path over every pattern that matches it; empty when none does.
   * @throws BadRequest as `find` does.
   */
  allowed(path: string): Method[]
  /** The routes in the order in which they were added: `createRouteTable(changed)` replaces or removes some. */
  entries(): readonly TableEntry<T>[]
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze(Object.create(null))

/** A table with the given routes. Building one again is the way to remove a route: 10,000 take some 100 ms. */
export function createRouteTable<T>(initial: Iterable<TableEntry<T>> = []): RouteTable<T> {
  const list: TableEntry<T>[] = []
  const conflicts = createConflictRegister()
  const statics = new Map<string, Endpoints<T>>()
  const root = createNode<T>()

  function addEntry(entry: TableEntry<T>): void {
    const segments = parsePattern(entry.path, entry.origin)
    conflicts.take({ ...entry, segments })
    const names = parameterNames(segments)
    const endpoints = names.length === 0 ? staticEndpoints(segments) : endpointsAt(root, segments)
    endpoints.set(entry.method, {
      target: entry.target,
      names,
      isRest: segments.at(-1)?.kind === 'catch-all',
    })
    list.push(entry)
  }

  function staticEndpoints(segments: readonly Segment[]): Endpoints<T> {
    const path = patternOf(segments)
    const endpoints = statics.get(path) ?? new Map<string, Endpoint<T>>()
    statics.set(path, endpoints)
    return endpoints
  }

  function find(method: string, rawPath: string): Match<T> | undefined {
    const path = withoutTrailingSlash(canonicalPath(rawPath))
    const exact = statics.get(path)
    const fixed = exact && endpointFor(exact, method)
    if (fixed) return { target: fixed.target, params: NO_PARAMS }
    const found = searchTrie(root, path, method)
    return found && { target: found.target, params: capturedParams(found, path) }
  }

  for (const entry of initial) addEntry(entry)
  return {
    add: (method, path, target, origin) => addEntry({ method, path, target, origin }),
    find,
    allowed(path) {
      const methods = METHODS.filter((method) => find(method, path))
      return METHODS.filter(
        (method) => methods.includes(method) || (method === 'OPTIONS' && methods.length > 0),
      )
    },
    entries: () => list,
  }
}
