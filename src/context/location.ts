/** What may not stand in a URL as it is (RFC 3986 §2); a complete percent-escape may. */
const UNSAFE = /%(?![0-9A-Fa-f]{2})|[^\w\-.~:/?#[\]@!$&'()*+,;=%]+/g

/**
 * The value of a `Location` header for an address: what is escaped already stays as it is, and everything else that a URL
 * cannot hold is escaped, line breaks and backslashes (which browsers take for slashes) included.
 */
export function locationOf(url: string): string {
  // Through bytes, as half of a surrogate pair has no escape.
  return Buffer.from(url).toString().replace(UNSAFE, encodeURIComponent)
}
