import { BadRequest } from '../errors/http-error.ts'
import { escapedByte, escapesOfCharacter } from '../support/percent-escapes.ts'

// Printable ASCII that is unescaped in the canonical form. Without `%`, `/`, `?` and `#`, which have a meaning in a
// path, and without braces, which have a meaning in an OpenAPI path.
const PLAIN = /^[!"$&-.0-9:->@-z|~]$/
const IS_PLAIN = Array.from({ length: 256 }, (_, code) => PLAIN.test(String.fromCharCode(code)))

/**
 * Returns the canonical form of a request path: escapes of printable characters are resolved, and other escapes are in
 * upper case (RFC 3986 §6.2.2). `/%61dmin` becomes `/admin` before any comparison. `%2F` is kept.
 * @throws BadRequest `malformed_path` for an escape that is incomplete or not UTF-8.
 */
export function canonicalPath(path: string): string {
  if (!path.includes('%')) return path
  const canonical = resolvePlainEscapes(path)
  if (canonical !== undefined) return canonical
  throw new BadRequest('The path has a malformed percent-escape.', { code: 'malformed_path' })
}

/** Like `canonicalPath`, but returns a malformed path unchanged; for paths that were already refused. */
export function canonicalOrRawPath(path: string): string {
  return resolvePlainEscapes(path) ?? path
}

const SLASH = 47

/** Removes one trailing slash. `/` keeps its slash, and so does `/a//`, which ends in an empty segment. */
export function withoutTrailingSlash(path: string): string {
  const last = path.length - 1
  if (path.charCodeAt(last) !== SLASH || last === 0 || path.charCodeAt(last - 1) === SLASH) return path
  return path.slice(0, last)
}

/**
 * Returns the canonical form of one segment of a pattern, which may contain unescaped characters (`café`) or escapes.
 * Null for a malformed escape.
 */
export function canonicalSegment(segment: string): string | null {
  try {
    return resolvePlainEscapes(encodeURIComponent(decodeURIComponent(segment))) ?? null
  } catch {
    return null
  }
}

/** Resolves escapes in one pass, since most paths need no replacement. Undefined for a malformed escape. */
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

/** True if an escape in the range has a lower-case digit. */
function isLowerCase(path: string, from: number, to: number): boolean {
  for (let index = from; index < to; index++) if (path.charCodeAt(index) >= LOWER_A) return true
  return false
}
