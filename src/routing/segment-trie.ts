import { OwnObject } from '../support/own-object.ts'
import { BadRequest } from '../errors/http-error.ts'
import { stackless } from '../errors/stackless.ts'
import type { Segment } from './path-pattern.ts'
import { nextHash, textHash, TextTable, type Keyed } from './text-table.ts'

/** What a pattern answers to one method, and the names that its captured values get. */
export interface Endpoint<T> {
  readonly method: string
  readonly target: T
  readonly names: readonly string[]
  /** True when the last name is a catch-all's. */
  readonly isRest: boolean
  /** What the pattern answers to another method: few enough that no Map would find one sooner. */
  readonly next: Endpoint<T> | undefined
}

/** A position in the trie, with the static segment that leads there: what may follow. */
export interface Node<T> extends Keyed {
  /** How many values the parameters on the way here have captured. */
  readonly captures: number
  statics: TextTable<Node<T>> | undefined
  param: Node<T> | undefined
  /** Answers when the path ends here. */
  end: Endpoint<T> | undefined
  /** Answers whatever follows, when at least one segment does. */
  rest: Endpoint<T> | undefined
}

/** An empty position, by default a root. */
export function createNode<T>(captures = 0, text = ''): Node<T> {
  return {
    text,
    hash: textHash(text),
    captures,
    statics: undefined,
    param: undefined,
    end: undefined,
    rest: undefined,
  }
}

/** Adds what a pattern with parameters answers to one method. */
export function addEndpoint<T>(
  root: Node<T>,
  segments: readonly Segment[],
  endpoint: Omit<Endpoint<T>, 'next'>,
): void {
  let node = root
  for (const segment of segments) {
    if (segment.kind === 'catch-all') {
      node.rest = { ...endpoint, next: node.rest }
      return
    }
    node =
      segment.kind === 'param'
        ? (node.param ??= createNode(node.captures + 1))
        : staticChild(node, segment.value)
  }
  node.end = { ...endpoint, next: node.end }
}

function staticChild<T>(node: Node<T>, text: string): Node<T> {
  const children = (node.statics ??= new TextTable<Node<T>>())
  const present = children.find(text, 0, text.length, textHash(text))
  if (present) return present
  const made = createNode<T>(node.captures, text)
  children.add(made)
  return made
}

/** What a pattern answers to a method: `HEAD` falls back to `GET`. */
export function endpointFor<T>(first: Endpoint<T>, method: string): Endpoint<T> | undefined {
  for (let each: Endpoint<T> | undefined = first; each; each = each.next)
    if (each.method === method) return each
  return method === 'HEAD' ? endpointFor(first, 'GET') : undefined
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
  // A loop: segments are short, and calling `indexOf` costs more than reading them.
  let stop = start
  let hash = 0
  for (; stop < path.length; stop++) {
    const code = path.charCodeAt(stop)
    if (code === SLASH) break
    hash = nextHash(hash, code)
  }
  if (stop === start) return undefined
  const child = node.statics?.find(path, start, stop, hash)
  const found = child && proceed(child, path, stop, method)
  if (found) return found
  if (node.param) {
    starts[node.captures] = start
    ends[node.captures] = stop
    const taken = proceed(node.param, path, stop, method)
    if (taken) return taken
  }
  if (!node.rest || path.includes('//', start)) return undefined
  starts[node.captures] = start
  ends[node.captures] = path.length
  return endpointFor(node.rest, method)
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
    throw stackless(BadRequest, "The path leads upwards by '..'.", { code: 'malformed_path' })
}
