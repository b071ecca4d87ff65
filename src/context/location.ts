/** Characters that a URL cannot contain unescaped (RFC 3986 §2); complete percent-escapes are allowed. */
const UNSAFE = /%(?![0-9A-Fa-f]{2})|[^\w\-.~:/?#[\]@!$&'()*+,;=%]+/g

/**
 * Returns the value of a `Location` header. Existing escapes are kept, and every character that a URL cannot contain is
 * escaped, including line breaks and backslashes (which browsers treat as slashes).
 */
export function locationOf(url: string): string {
  // Convert through bytes, because half a surrogate pair has no escape.
  return Buffer.from(url).toString().replace(UNSAFE, encodeURIComponent)
}
