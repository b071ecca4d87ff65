import { BadRequest } from '../errors/http-error.ts'
import type { Segment } from './path-pattern.ts'

/** What a pattern answers: its targets by method, and the names that its captured values get. */
export interface Leaf<T> {
  /** True when the last name is a catch-all's. */
  readonly isRest: boolean
  readonly names: readonly string[]
  readonly targets: Map<string, T>
}

/** A position in the trie: what may follow the segments that lead here. */
export interface Node<T> {
  readonly statics: Map<string, Node<T>>
  param: Node<T> | undefined
  /** Answers when the path ends here. */
  leaf: Leaf<T> | undefined
  /** Answers whatever follows, when at least one segment does. */
  rest: Leaf<T> | undefined
}

/** Reads a leaf on the way, most specific first; anything but undefined ends the walk. */
type Visit<T, R> = (leaf: Leaf<T>) => R | undefined

/** An empty position. */
export function createNode<T>(): Node<T> {
  return { statics: new Map(), param: undefined, leaf: undefined, rest: undefined }
}

/** Finds the leaf of a pattern, made with `names` when it is not there. */
export function leafAt<T>(root: Node<T>, segments: readonly Segment[], names: readonly string[]): Leaf<T> {
  let node = root
  for (const segment of segments) {
    if (segment.kind === 'catch-all') return (node.rest ??= { isRest: true, names, targets: new Map() })
    node = segment.kind === 'param' ? (node.param ??= createNode()) : childOf(node, segment.value)
  }
  return (node.leaf ??= { isRest: false, names, targets: new Map() })
}

function childOf<T>(node: Node<T>, value: string): Node<T> {
  const present = node.statics.get(value)
  if (present) return present
  const made = createNode<T>()
  node.statics.set(value, made)
  return made
}

// Start and end of each captured value of the walk under way. Matching is synchronous and never re-entered, so one
// pair of arrays serves every table and a match allocates nothing before it succeeds.
const starts: number[] = []
const ends: number[] = []

/**
 * Visits the leaves that match a canonical path, the most specific first: per segment static before parameter before
 * catch-all, with backtracking. An empty segment matches nothing; one trailing slash does not count.
 * Each trie position is visited at most once, so a hostile path costs no more than the table is large.
 */
export function walk<T, R>(root: Node<T>, path: string, visit: Visit<T, R>): R | undefined {
  const end = path.length > 1 && path.endsWith('/') ? path.length - 1 : path.length
  return end < 2 ? undefined : descend(root, path, 1, end, 0, visit)
}

function descend<T, R>(
  node: Node<T>,
  path: string,
  start: number,
  end: number,
  depth: number,
  visit: Visit<T, R>,
): R | undefined {
  const slash = path.indexOf('/', start)
  const stop = slash === -1 || slash > end ? end : slash
  if (stop === start) return undefined
  if (node.statics.size > 0) {
    const child = node.statics.get(path.slice(start, stop))
    const found = child && proceed(child, path, stop, end, depth, visit)
    if (found !== undefined) return found
  }
  if (node.param) {
    starts[depth] = start
    ends[depth] = stop
    const found = proceed(node.param, path, stop, end, depth + 1, visit)
    if (found !== undefined) return found
  }
  if (!node.rest || path.indexOf('//', start) !== -1) return undefined
  starts[depth] = start
  ends[depth] = end
  return visit(node.rest)
}

function proceed<T, R>(
  node: Node<T>,
  path: string,
  stop: number,
  end: number,
  depth: number,
  visit: Visit<T, R>,
): R | undefined {
  if (stop < end) return descend(node, path, stop + 1, end, depth, visit)
  return node.leaf && visit(node.leaf)
}

// An instance has its own keys and inherits none, and unlike `Object.create(null)` it stays in V8's fast mode.
const Params = function () {} as unknown as new () => Record<string, string>
Params.prototype = Object.create(null)

/**
 * The captured values of the leaf that `walk` visits right now, each percent-decoded once.
 * @throws BadRequest `malformed_path` when a catch-all would hold a `..`.
 */
export function capturedParams<T>(leaf: Leaf<T>, path: string): Record<string, string> {
  const params = new Params()
  for (let index = 0; index < leaf.names.length; index++) {
    const raw = path.slice(starts[index], ends[index])
    params[leaf.names[index]!] = raw.includes('%') ? decodeURIComponent(raw) : raw
  }
  if (leaf.isRest) refuseParentParts(params[leaf.names.at(-1)!]!)
  return params
}

function refuseParentParts(rest: string): void {
  if (rest.includes('..') && rest.split(/[/\\]/).includes('..'))
    throw new BadRequest("The path leads upwards by '..'.", { code: 'malformed_path' })
}
