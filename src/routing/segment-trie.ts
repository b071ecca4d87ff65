import { OwnObject } from '../support/own-object.ts'
import { BadRequest } from '../errors/http-error.ts'
import { decodeEscapes } from '../support/percent-escapes.ts'
import { patternOf, type Segment } from './path-pattern.ts'

/** The target of a pattern for one method, with the names of the captured values. */
export interface Endpoint<T> {
  readonly method: string
  readonly target: T
  readonly names: readonly string[]
  /** True if the last name is that of a catch-all. */
  readonly isRest: boolean
  /** The endpoint for another method. A linked list: for so few methods a Map would not be faster. */
  readonly next: Endpoint<T> | undefined
}

/**
 * The patterns of a table by their static beginnings, such as `/users` of `/users/:id`, which one search of a Map finds.
 * With many routes, each object on the way to an endpoint costs a request a cache miss.
 */
export interface Trie<T> {
  readonly beginnings: Map<string, Node<T>>
  /** True at each length that a beginning has. Other lengths skip the Map, so V8 need not hash them. */
  readonly lengths: boolean[]
}

/** A position after a beginning, and its continuations. */
export interface Node<T> {
  /** Number of parameters between the root and this position. */
  readonly captures: number
  /** Undefined without static continuations: an empty Map takes more memory than the rest of the node. */
  statics: Map<string, Node<T>> | undefined
  param: Node<T> | undefined
  /** Endpoint for a path that ends here. */
  end: Endpoint<T> | undefined
  /** Endpoint of a catch-all, for one or more further segments. */
  rest: Endpoint<T> | undefined
}

function createNode<T>(captures: number): Node<T> {
  return { captures, statics: undefined, param: undefined, end: undefined, rest: undefined }
}

/** Adds the endpoint of a pattern for one method. */
export function addEndpoint<T>(
  trie: Trie<T>,
  segments: readonly Segment[],
  endpoint: Omit<Endpoint<T>, 'next'>,
): void {
  const named = segments.findIndex(({ kind }) => kind !== 'static')
  const first = named === -1 ? segments.length : named
  // Empty for a pattern that begins with a parameter.
  const beginning = named === 0 ? '' : patternOf(segments.slice(0, first))
  trie.lengths[beginning.length] = true
  let node = nodeAt(trie.beginnings, beginning)
  for (const segment of segments.slice(first)) {
    if (segment.kind === 'catch-all') {
      node.rest = { ...endpoint, next: node.rest }
      return
    }
    node =
      segment.kind === 'param'
        ? (node.param ??= createNode(node.captures + 1))
        : nodeAt((node.statics ??= new Map<string, Node<T>>()), segment.value, node.captures)
  }
  node.end = { ...endpoint, next: node.end }
}

function nodeAt<T>(nodes: Map<string, Node<T>>, text: string, captures = 0): Node<T> {
  const node = nodes.get(text) ?? createNode<T>(captures)
  nodes.set(text, node)
  return node
}

/** Returns the endpoint for a method; `HEAD` falls back to `GET`. Without a method, returns the first endpoint. */
export function endpointFor<T>(
  first: Endpoint<T> | undefined,
  method: string | undefined,
): Endpoint<T> | undefined {
  if (method === undefined) return first
  for (let each = first; each; each = each.next) if (each.method === method) return each
  return method === 'HEAD' ? endpointFor(first, 'GET') : undefined
}

/** State of one search: the path, the method, and the values captured so far. */
interface Search {
  readonly path: string
  readonly method: string | undefined
  readonly captured: string[]
  /** True if the static segments of the trie are in lower case and match any case. */
  readonly isFolded: boolean
}

/** An endpoint and its captured values, still percent-encoded. */
export interface Found<T> {
  readonly endpoint: Endpoint<T>
  readonly captured: readonly string[]
}

const SLASH = 47

/**
 * Finds the most specific pattern that matches a canonical path without trailing slash and has the method (any, if
 * undefined): the longest static beginning first, then per segment static before parameter before catch-all, with
 * backtracking. An empty segment matches nothing. Each position is visited at most once, so the size of the table limits
 * the cost of a hostile path.
 */
export function searchTrie<T>(
  { beginnings, lengths }: Trie<T>,
  path: string,
  method: string | undefined,
  isFolded = false,
): Found<T> | undefined {
  if (path.charCodeAt(0) !== SLASH) return undefined
  const search = { path, method, captured: [], isFolded }
  for (let stop = Math.min(path.length, lengths.length - 1); stop >= 0; stop--) {
    if (lengths[stop] !== true || (stop < path.length && path.charCodeAt(stop) !== SLASH)) continue
    const node = beginnings.get(isFolded ? path.slice(0, stop).toLowerCase() : path.slice(0, stop))
    const endpoint = node && proceed(node, search, stop)
    if (endpoint) return { endpoint, captured: search.captured }
  }
  return undefined
}

function descend<T>(node: Node<T>, search: Search, start: number): Endpoint<T> | undefined {
  const { path, method, captured, isFolded } = search
  const slash = path.indexOf('/', start)
  const stop = slash === -1 ? path.length : slash
  if (stop === start) return undefined
  const segment = path.slice(start, stop)
  const child = node.statics?.get(isFolded ? segment.toLowerCase() : segment)
  const found = child && proceed(child, search, stop)
  if (found) return found
  if (node.param) {
    captured[node.captures] = segment
    const taken = proceed(node.param, search, stop)
    if (taken) return taken
  }
  if (!node.rest || path.includes('//', start)) return undefined
  captured[node.captures] = path.slice(start)
  return endpointFor(node.rest, method)
}

function proceed<T>(node: Node<T>, search: Search, stop: number): Endpoint<T> | undefined {
  if (stop < search.path.length) return descend(node, search, stop + 1)
  return endpointFor(node.end, search.method)
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze(Object.create(null))

/**
 * Returns the captured values by parameter name, each percent-decoded once.
 * @throws BadRequest `malformed_path` if a catch-all would contain a `..`.
 */
export function paramsOf<T>({ endpoint, captured }: Found<T>): Readonly<Record<string, string>> {
  const { names, isRest } = endpoint
  if (names.length === 0) return NO_PARAMS
  const params = new OwnObject() as Record<string, string>
  for (let index = 0; index < names.length; index++) {
    const raw = captured[index]!
    params[names[index]!] = decodeEscapes(raw) ?? raw
  }
  if (isRest) refuseParentParts(params[names.at(-1)!]!)
  return params
}

function refuseParentParts(rest: string): void {
  if (rest.includes('..') && rest.split(/[/\\]/).includes('..'))
    throw new BadRequest("The path must not contain '..' segments.", { code: 'malformed_path' })
}
