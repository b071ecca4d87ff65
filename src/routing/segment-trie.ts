import { OwnObject } from '../support/own-object.ts'
import { BadRequest } from '../errors/http-error.ts'
import type { Segment } from './path-pattern.ts'

/** What a pattern answers to one method, and the names that its captured values get. */
export interface Endpoint<T> {
  readonly target: T
  readonly names: readonly string[]
  /** True when the last name is a catch-all's. */
  readonly isRest: boolean
}

/** The endpoints of one pattern by method. */
export type Endpoints<T> = Map<string, Endpoint<T>>

/** A position in the trie: what may follow the segments that lead here. */
export interface Node<T> {
  /** How many values the parameters on the way here have captured. */
  readonly captures: number
  readonly statics: Map<string, Node<T>>
  param: Node<T> | undefined
  /** Answers when the path ends here. */
  end: Endpoints<T> | undefined
  /** Answers whatever follows, when at least one segment does. */
  rest: Endpoints<T> | undefined
}

/** An empty position, by default a root. */
export function createNode<T>(captures = 0): Node<T> {
  return { captures, statics: new Map(), param: undefined, end: undefined, rest: undefined }
}

/** The endpoints of a pattern, made when they are not there. */
export function endpointsAt<T>(root: Node<T>, segments: readonly Segment[]): Endpoints<T> {
  let node = root
  for (const segment of segments) {
    if (segment.kind === 'catch-all') return (node.rest ??= new Map())
    node =
      segment.kind === 'param'
        ? (node.param ??= createNode(node.captures + 1))
        : staticChild(node, segment.value)
  }
  return (node.end ??= new Map())
}

function staticChild<T>(node: Node<T>, value: string): Node<T> {
  const present = node.statics.get(value)
  if (present) return present
  const made = createNode<T>(node.captures)
  node.statics.set(value, made)
  return made
}

/** What a pattern answers to a method: `HEAD` falls back to `GET`. */
export function endpointFor<T>(endpoints: Endpoints<T>, method: string): Endpoint<T> | undefined {
  return endpoints.get(method) ?? (method === 'HEAD' ? endpoints.get('GET') : undefined)
}

const SLASH = 47

// Start and end of each captured value of the search under way. Matching is synchronous and never re-entered, so one
// pair of arrays serves every table and a search allocates nothing for roads that it gives up.
const starts: number[] = []
const ends: number[] = []

/**
 * Finds the most specific pattern that matches a canonical path without trailing slash and takes the method: per
 * segment static before parameter before catch-all, with backtracking. An empty segment matches nothing.
 * Each position is visited at most once, so a hostile path costs no more than the table is large.
 */
export function searchTrie<T>(root: Node<T>, path: string, method: string): Endpoint<T> | undefined {
  return path.charCodeAt(0) === SLASH ? descend(root, path, 1, method) : undefined
}

function descend<T>(node: Node<T>, path: string, start: number, method: string): Endpoint<T> | undefined {
  const stop = segmentEnd(path, start)
  if (stop === start) return undefined
  if (node.statics.size > 0) {
    const child = node.statics.get(path.slice(start, stop))
    const found = child && proceed(child, path, stop, method)
    if (found) return found
  }
  if (node.param) {
    starts[node.captures] = start
    ends[node.captures] = stop
    const found = proceed(node.param, path, stop, method)
    if (found) return found
  }
  if (!node.rest || path.includes('//', start)) return undefined
  starts[node.captures] = start
  ends[node.captures] = path.length
  return endpointFor(node.rest, method)
}

/** A loop: segments are short, and calling `indexOf` costs more than reading them. */
function segmentEnd(path: string, start: number): number {
  let index = start
  while (index < path.length && path.charCodeAt(index) !== SLASH) index++
  return index
}

function proceed<T>(node: Node<T>, path: string, stop: number, method: string): Endpoint<T> | undefined {
  if (stop < path.length) return descend(node, path, stop + 1, method)
  return node.end && endpointFor(node.end, method)
}

/**
 * The captured values of the endpoint that `searchTrie` has just found, each percent-decoded once.
 * @throws BadRequest `malformed_path` when a catch-all would hold a `..`.
 */
export function capturedParams<T>({ names, isRest }: Endpoint<T>, path: string): Record<string, string> {
  const params = new OwnObject() as Record<string, string>
  const isEscaped = path.includes('%')
  for (let index = 0; index < names.length; index++) {
    const raw = path.slice(starts[index], ends[index])
    params[names[index]!] = isEscaped ? decodeURIComponent(raw) : raw
  }
  if (isRest) refuseParentParts(params[names.at(-1)!]!)
  return params
}

function refuseParentParts(rest: string): void {
  if (rest.includes('..') && rest.split(/[/\\]/).includes('..'))
    throw new BadRequest("The path leads upwards by '..'.", { code: 'malformed_path' })
}
