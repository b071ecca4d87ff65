import { BadRequest } from '../errors/http-error.ts'
import { stackless } from '../errors/stackless.ts'
import { escapedByte, escapesOfCharacter } from '../support/percent-escapes.ts'

// Printable ASCII that may stand unescaped in the canonical form. Without `%`, `/`, `?` and `#`, which mean something
// in a path, and without braces, which mean something in an OpenAPI path.
const PLAIN = /^[!"$&-.0-9:->@-z|~]$/
const IS_PLAIN = Array.from({ length: 256 }, (_, code) => PLAIN.test(String.fromCharCode(code)))

/**
 * The one form of all request paths that name the same octets: escapes of printable characters are resolved and the
 * others are in upper case (RFC 3986 §6.2.2), so `/%61dmin` is `/admin` before anything is compared. `%2F` stays.
 * @throws BadRequest `malformed_path` for an escape that is cut short or is not UTF-8.
 */
export function canonicalPath(path: string): string {
  if (!path.includes('%')) return path
  const canonical = resolvePlainEscapes(path)
  if (canonical !== undefined) return canonical
  throw stackless(BadRequest, 'The path has a malformed percent-escape.', { code: 'malformed_path' })
}

/** `canonicalPath` for a path that has been refused already: a malformed one comes back as it is. */
export function canonicalOrRawPath(path: string): string {
  return resolvePlainEscapes(path) ?? path
}

const SLASH = 47

/** The path without its one trailing slash. `/` keeps its slash, and so does `/a//`, which ends in an empty segment. */
export function withoutTrailingSlash(path: string): string {
  const last = path.length - 1
  if (path.charCodeAt(last) !== SLASH || last === 0 || path.charCodeAt(last - 1) === SLASH) return path
  return path.slice(0, last)
}

/**
 * The canonical form of one segment of a pattern, which may hold unescaped characters (`café`) or escapes.
 * Returns null when an escape is malformed.
 */
export function canonicalSegment(segment: string): string | null {
  try {
    return resolvePlainEscapes(encodeURIComponent(decodeURIComponent(segment))) ?? null
  } catch {
    return null
  }
}

/** Reads the path once: most requests with an escape need nothing replaced. Undefined for a malformed escape. */
function resolvePlainEscapes(path: string): string | undefined {
  let resolved = ''
  let from = 0
  for (let at = path.indexOf('%'); at !== -1;) {
    const byte = escapedByte(path, at)
    const count = byte < 0 ? 0 : escapesOfCharacter(path, at, byte)
    if (count === 0) return undefined
    const next = at + 3 * count
    const isPlain = IS_PLAIN[byte] === true
    if (isPlain || isLowerCase(path, at, next)) {
      const form = isPlain ? String.fromCharCode(byte) : path.slice(at, next).toUpperCase()
      resolved += path.slice(from, at) + form
      from = next
    }
    at = path.indexOf('%', next)
  }
  return from === 0 ? path : resolved + path.slice(from)
}

const LOWER_A = 97

/** True when an escape of a range has a lower-case digit. */
function isLowerCase(path: string, from: number, to: number): boolean {
  for (let index = from; index < to; index++) if (path.charCodeAt(index) >= LOWER_A) return true
  return false
}
