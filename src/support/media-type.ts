/** True when a media type is the pattern, or of its kind for a pattern such as `image/*`. Both in lower case. */
export function matchesType(pattern: string, type: string): boolean {
  if (pattern === type) return true
  return pattern.endsWith('/*') && type.startsWith(pattern.slice(0, -1))
}
