import { unescape } from 'node:querystring'
import { OwnObject } from './own-object.ts'
import { decodeEscapes } from './percent-escapes.ts'

/** Values of a query by name; a name that repeats has a list. */
export type Query = Record<string, string | string[]>

const [AMPERSAND, EQUALS, PERCENT, PLUS, SPACE] = [38, 61, 37, 43, 32]

/**
 * Parses the query string of a URL as `node:querystring` does (`test/pipeline/parse-query.test.ts` compares the
 * two), into an object that is ten times as fast to walk. Undefined when it has more than `maxPairs` pairs.
 */
export function parseQuery(text: string, maxPairs: number): Query | undefined {
  const query = new OwnObject() as Query
  const { length } = text
  let pairs = 0
  let start = 0
  let equals = -1
  // One pass over the characters also tells which pieces hold something to decode: most do not.
  let isCoded = false
  let isNameCoded = false
  for (let index = 0; index <= length; index++) {
    const code = index === length ? AMPERSAND : text.charCodeAt(index)
    if (code === PERCENT || code === PLUS) isCoded = true
    else if (code === EQUALS && equals === -1) {
      equals = index
      isNameCoded = isCoded
      isCoded = false
    }
    if (code !== AMPERSAND) continue
    if (index > start) {
      pairs++
      if (pairs > maxPairs) return undefined
      if (equals === -1) add(query, read(text.slice(start, index), isCoded), '')
      else
        add(query, read(text.slice(start, equals), isNameCoded), read(text.slice(equals + 1, index), isCoded))
    }
    start = index + 1
    equals = -1
    isCoded = false
  }
  return query
}

function add(query: Query, name: string, value: string): void {
  const before = query[name]
  if (before === undefined) query[name] = value
  else if (typeof before === 'string') query[name] = [before, value]
  else before.push(value)
}

function read(piece: string, isCoded: boolean): string {
  if (!isCoded) return piece
  const spaced = piece.includes('+') ? withSpaces(piece) : piece
  // `unescape` keeps a `%` without two hexadecimal digits, and replaces bytes that are not UTF-8.
  return decodeEscapes(spaced) ?? unescape(spaced)
}

/** Length at which a piece may hold many `+`, of which `replaceAll` copies a piece each: 0.2 µs. */
const LONG = 1_000

function withSpaces(text: string): string {
  if (text.length < LONG) return text.replaceAll('+', ' ')
  const bytes = Buffer.from(text)
  for (let at = bytes.indexOf(PLUS); at !== -1 && at < bytes.length; at++)
    if (bytes[at] === PLUS) bytes[at] = SPACE
  return bytes.toString()
}
