import { BadRequest } from '../errors/http-error.ts'
import { stackless } from '../errors/stackless.ts'

// Printable ASCII that may stand unescaped in the canonical form. Without `%`, `/`, `?` and `#`, which mean something
// in a path, and without braces, which mean something in an OpenAPI path.
const PLAIN = /^[!"$&-.0-9:->@-z|~]$/
const ESCAPE = /%[0-9A-Fa-f]{2}/g

/**
 * The one form of all request paths that name the same octets: escapes of printable characters are resolved and the
 * others are in upper case (RFC 3986 §6.2.2), so `/%61dmin` is `/admin` before anything is compared. `%2F` stays.
 * @throws BadRequest `malformed_path` for an escape that is cut short or is not UTF-8.
 */
export function canonicalPath(path: string): string {
  if (!path.includes('%')) return path
  if (!isDecodable(path))
    throw stackless(BadRequest, 'The path has a malformed percent-escape.', { code: 'malformed_path' })
  return resolvePlainEscapes(path)
}

/** `canonicalPath` for a path that has been refused already: a malformed one comes back as it is. */
export function canonicalOrRawPath(path: string): string {
  return path.includes('%') && isDecodable(path) ? resolvePlainEscapes(path) : path
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
    return resolvePlainEscapes(encodeURIComponent(decodeURIComponent(segment)))
  } catch {
    return null
  }
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

function resolvePlainEscapes(path: string): string {
  return path.replace(ESCAPE, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return PLAIN.test(character) ? character : escape.toUpperCase()
  })
}
