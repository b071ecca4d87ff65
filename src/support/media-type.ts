/** True if a media type equals the pattern, or matches a pattern such as `image/*`. Both are in lower case. */
export function matchesType(pattern: string, type: string): boolean {
  if (pattern === type) return true
  return pattern.endsWith('/*') && type.startsWith(pattern.slice(0, -1))
}
