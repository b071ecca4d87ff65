import { canonicalPath, withoutTrailingSlash } from './canonical-path.ts'
import { parameterNames, parsePattern, type Segment } from './path-pattern.ts'
import { createConflictRegister, type ConflictRegister, type RegisteredRoute } from './route-conflicts.ts'
import { METHODS, type Method } from './route.ts'
import { addEndpoint, paramsOf, searchTrie, type Trie } from './segment-trie.ts'

/** The route for a request path. `params` has own keys only; each value is percent-decoded once. */
export interface Match<T> {
  readonly target: T
  readonly params: Readonly<Record<string, string>>
}

/** One route of a table. `origin` is the place of its declaration, for messages. */
export interface TableEntry<T> extends Omit<RegisteredRoute, 'segments'> {
  readonly target: T
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
      if (search(index, path, undefined) === undefined) return []
      const methods = METHODS.filter((method) => findIn(index, method, path))
      return METHODS.filter(
        (method) => methods.includes(method) || (method === 'OPTIONS' && methods.length > 0),
      )
    },
    entries: () => index.entries,
  }
}

/** The search index. */
interface Index<T> {
  readonly entries: TableEntry<T>[]
  readonly conflicts: ConflictRegister
  readonly trie: Trie<T>
  /** Adopted routes that match in any case, with lower-case paths; undefined for none. Searched after all others. */
  folded: Trie<T> | undefined
  /** Lists of parameter names, which routes share. */
  readonly lists: Map<string, readonly string[]>
}

function indexOf<T>(entries: Iterable<TableEntry<T>>): Index<T> {
  const index: Index<T> = {
    entries: [],
    conflicts: createConflictRegister(),
    trie: { beginnings: new Map(), lengths: [] },
    folded: undefined,
    lists: new Map(),
  }
  for (const entry of entries) insert(index, entry)
  return index
}

function insert<T>(index: Index<T>, entry: TableEntry<T>): void {
  const { method, target, path, origin, adopted, place } = entry
  const segments = parsePattern(path, origin)
  index.conflicts.take({ method, path, origin, segments, adopted, place })
  const list = parameterNames(segments)
  const names = index.lists.get(list.join('/')) ?? list
  index.lists.set(list.join('/'), names)
  const endpoint = { method, target, names, isRest: segments.at(-1)?.kind === 'catch-all' }
  addEndpoint(index.trie, segments, endpoint)
  if (adopted?.sensitive === false)
    addEndpoint((index.folded ??= { beginnings: new Map(), lengths: [] }), segments.map(folded), endpoint)
  index.entries.push(entry)
}

function folded(segment: Segment): Segment {
  return segment.kind === 'static' ? { kind: 'static', value: segment.value.toLowerCase() } : segment
}

function findIn<T>(index: Index<T>, method: string, rawPath: string): Match<T> | undefined {
  const found = search(index, rawPath, method)
  return found && { target: found.endpoint.target, params: paramsOf(found) }
}

/** Without a method, finds any pattern that matches the path. */
function search<T>({ trie, folded: other }: Index<T>, rawPath: string, method: string | undefined) {
  const path = withoutTrailingSlash(canonicalPath(rawPath))
  return searchTrie(trie, path, method) ?? (other && searchTrie(other, path, method, true))
}
