const SPACE = 0x20
const TAB = 0x09

/**
 * Returns the value of the cookie of exactly this name, without quotes around it (RFC 6265 §4.1.1), or null: without a
 * cookie, for an empty one, and if two values differ, because then somebody else has set one of them (cookie tossing).
 * Only space and tab around a name are ignored (RFC 6265 §5.2): a browser compares all other bytes when it checks the
 * prefix `__Host-`.
 */
export function readCookie(header: string, name: string): string | null {
  return findCookie(header, name) ?? null
}

/** Does the same as `readCookie`, but returns undefined without a cookie or for an empty one. */
export function findCookie(header: string, name: string): string | null | undefined {
  if (!header.includes(name)) return undefined
  let found: string | undefined
  for (const pair of header.split(';')) {
    const mark = pair.indexOf('=')
    if (mark === -1 || trimmed(pair, 0, mark) !== name) continue
    const value = unquoted(trimmed(pair, mark + 1, pair.length))
    if (found !== undefined && found !== value) return null
    found = value
  }
  return found === '' ? undefined : found
}

/** Uses a loop, because a pattern for trailing spaces takes quadratic time. */
function trimmed(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB
}

function unquoted(value: string): string {
  return value.length >= 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value
}
