import type { CodePlace } from '../support/place-of-error.ts'
import { canonicalPath, withoutTrailingSlash } from './canonical-path.ts'
import { parameterNames, parsePattern, patternOf, type Segment } from './path-pattern.ts'
import { createConflictRegister, type ConflictRegister } from './route-conflicts.ts'
import { type AdoptedLayer, METHODS, type Method } from './route.ts'
import {
  addEndpoint,
  createNode,
  endpointFor,
  paramsOf,
  searchTrie,
  type Endpoint,
  type Node,
} from './segment-trie.ts'

/** The route for a request path. `params` has own keys only; each value is percent-decoded once. */
export interface Match<T> {
  readonly target: T
  readonly params: Readonly<Record<string, string>>
}

/** One route of a table. `origin` is the place of its declaration, for messages. */
export interface TableEntry<T> {
  readonly method: Method
  readonly path: string
  readonly target: T
  readonly origin: string
  readonly adopted?: AdoptedLayer | undefined
  readonly place?: CodePlace | undefined
}

/**
 * Finds the route for a method and a path. The most specific pattern with that method wins, independent of the order of
 * registration: per segment, static before parameter before catch-all. `HEAD` falls back to `GET`.
 */
export interface RouteTable<T> {
  /**
   * Adds a route, or changes nothing.
   * @throws StartupError for an invalid pattern, or for a conflict, with both origins.
   */
  add(method: Method, path: string, target: T, origin: string): void
  /**
   * Adds all the routes, or changes nothing.
   * @throws StartupError as `add` does.
   */
  addAll(entries: Iterable<TableEntry<T>>): void
  /**
   * @returns the match, or undefined if no pattern of this path has the method.
   * @throws BadRequest `malformed_path` for a malformed escape, or a `..` in a catch-all.
   */
  find(method: string, path: string): Match<T> | undefined
  /**
   * Returns the exact `Allow` list of a path, from every pattern that matches it; empty if none matches.
   * @throws BadRequest as `find` does.
   */
  allowed(path: string): Method[]
  /**
   * Returns the routes in the order of their addition. To remove or replace routes, create a table from a changed list.
   */
  entries(): readonly TableEntry<T>[]
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze(Object.create(null))

/** Creates a table with the given routes. To remove a route, create a new table: 10,000 routes take some 100 ms. */
export function createRouteTable<T>(initial: Iterable<TableEntry<T>> = []): RouteTable<T> {
  let index = indexOf(initial)

  function addAll(entries: Iterable<TableEntry<T>>): void {
    const count = index.entries.length
    try {
      for (const entry of entries) insert(index, entry)
    } catch (error) {
      if (index.entries.length > count) index = indexOf(index.entries.slice(0, count))
      throw error
    }
  }

  return {
    add: (method, path, target, origin) => addAll([{ method, path, target, origin }]),
    addAll,
    find: (method, path) => findIn(index, method, path),
    allowed(path) {
      if (!isKnown(index, path)) return []
      const methods = METHODS.filter((method) => findIn(index, method, path))
      return METHODS.filter(
        (method) => methods.includes(method) || (method === 'OPTIONS' && methods.length > 0),
      )
    },
    entries: () => index.entries,
  }
}

/** The search index: a Map for static paths, a trie for all others. */
interface Index<T> {
  readonly entries: TableEntry<T>[]
  readonly conflicts: ConflictRegister
  readonly statics: Map<string, Endpoint<T>>
  /** True at each length that a static path has. Paths of other lengths skip the Map, so V8 need not hash them. */
  readonly staticLengths: boolean[]
  readonly root: Node<T>
  /** Adopted routes that match in any case, with lower-case paths; undefined for none. Searched after all others. */
  folded: Node<T> | undefined
}

function indexOf<T>(entries: Iterable<TableEntry<T>>): Index<T> {
  const index: Index<T> = {
    entries: [],
    conflicts: createConflictRegister(),
    statics: new Map(),
    staticLengths: [],
    root: createNode(),
    folded: undefined,
  }
  for (const entry of entries) insert(index, entry)
  return index
}

function insert<T>(index: Index<T>, entry: TableEntry<T>): void {
  const { method, target, path, origin, adopted, place } = entry
  const segments = parsePattern(path, origin)
  index.conflicts.take({ method, path, origin, segments, adopted, place })
  const names = parameterNames(segments)
  const endpoint = { method, target, names, isRest: segments.at(-1)?.kind === 'catch-all' }
  if (names.length > 0) addEndpoint(index.root, segments, endpoint)
  else addStatic(index, patternOf(segments), endpoint)
  if (adopted?.sensitive === false)
    addEndpoint((index.folded ??= createNode()), segments.map(folded), endpoint)
  index.entries.push(entry)
}

function folded(segment: Segment): Segment {
  return segment.kind === 'static' ? { kind: 'static', value: segment.value.toLowerCase() } : segment
}

function addStatic<T>(
  { statics, staticLengths }: Index<T>,
  path: string,
  endpoint: Omit<Endpoint<T>, 'next'>,
): void {
  statics.set(path, { ...endpoint, next: statics.get(path) })
  staticLengths[path.length] = true
}

function findIn<T>(index: Index<T>, method: string, rawPath: string): Match<T> | undefined {
  const path = withoutTrailingSlash(canonicalPath(rawPath))
  const fixed = endpointFor(exactIn(index, path), method)
  if (fixed) return { target: fixed.target, params: NO_PARAMS }
  const found = searchTrie(index.root, path, method) ?? searchFolded(index, path, method)
  return found && { target: found.endpoint.target, params: paramsOf(found) }
}

function searchFolded<T>({ folded: root }: Index<T>, path: string, method: string | undefined) {
  return root && searchTrie(root, path, method, true)
}

function exactIn<T>({ staticLengths, statics }: Index<T>, path: string): Endpoint<T> | undefined {
  return staticLengths[path.length] === true ? statics.get(path) : undefined
}

/** True if a pattern matches the path, with any method. */
function isKnown<T>(index: Index<T>, rawPath: string): boolean {
  const path = withoutTrailingSlash(canonicalPath(rawPath))
  if (exactIn(index, path) !== undefined || searchTrie(index.root, path, undefined) !== undefined) return true
  return searchFolded(index, path, undefined) !== undefined
}
