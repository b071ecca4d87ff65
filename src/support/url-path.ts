/**
 * Joins two path parts: one slash between, one in front, none at the end. `joinPath('/a/', 'b')` is `/a/b`; the root is
 * `/`.
 */
export function joinPath(prefix: string, path: string): string {
  const joined = [...segmentsOf(prefix), ...segmentsOf(path)].join('/')
  return `/${joined}`
}

/** Returns the non-empty segments of a path or pattern. */
export function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '')
}
