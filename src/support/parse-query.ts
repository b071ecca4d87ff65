import { unescape } from 'node:querystring'
import { OwnObject } from './own-object.ts'

/** Values of a query by name; a name that repeats has a list. */
export type Query = Record<string, string | string[]>

/**
 * Reads the text behind the `?` of a URL as `node:querystring` does, to which a differential test holds it, into an
 * object that is ten times as fast to walk. Undefined when it has more than `maxPairs` pairs.
 */
export function parseQuery(text: string, maxPairs: number): Query | undefined {
  const query = new OwnObject() as Query
  const read = text.includes('%') || text.includes('+') ? decode : asItIs
  let from = 0
  for (let pairs = 0; from < text.length;) {
    const next = text.indexOf('&', from)
    const to = next === -1 ? text.length : next
    if (to > from) {
      pairs++
      if (pairs > maxPairs) return undefined
      const mark = text.indexOf('=', from)
      const end = mark === -1 || mark > to ? to : mark
      add(query, read(text.slice(from, end)), end < to ? read(text.slice(end + 1, to)) : '')
    }
    from = to + 1
  }
  return query
}

function add(query: Query, name: string, value: string): void {
  const before = query[name]
  if (before === undefined) query[name] = value
  else if (typeof before === 'string') query[name] = [before, value]
  else before.push(value)
}

/** Most queries hold nothing to decode. */
function asItIs(text: string): string {
  return text
}

function decode(text: string): string {
  const spaced = text.length < LONG ? text.replaceAll('+', ' ') : spacedByByte(text)
  return ESCAPE.test(spaced) ? unescape(spaced) : spaced
}

/** Where a text is long enough for many `+`, of which `replaceAll` copies a piece each: 0.2 µs. */
const LONG = 1_000
const [PLUS, SPACE] = [43, 32]

function spacedByByte(text: string): string {
  const bytes = Buffer.from(text)
  for (let at = bytes.indexOf(PLUS); at !== -1 && at < bytes.length; at++)
    if (bytes[at] === PLUS) bytes[at] = SPACE
  return bytes.toString()
}

/** A `%` without two hexadecimal digits behind it stands for itself. */
const ESCAPE = /%[\da-f]{2}/i
