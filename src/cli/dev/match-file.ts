import type { Method } from '../../routing/route.ts'

/** A file of routes, or a route. Middleware has no method. */
interface Place {
  readonly method?: Method
  readonly pattern: string
}

/**
 * True if the route of a file could serve a request. It may be true for too many files, as the route table decides; a
 * request that matches no file and no route waits for all files.
 * @param path the request target, with its query.
 */
export function matchesFile(planned: Place, method: string, path: string): boolean {
  if (planned.method !== (method === 'HEAD' ? 'GET' : method)) return false
  const parts = path
    .split('?')[0]!
    .replace(/(?<=.)\/$/, '')
    .split('/')
  const wanted = planned.pattern.split('/')
  if (wanted.length !== parts.length && !wanted.at(-1)!.startsWith('*')) return false
  return wanted.every((part, index) => /^[:*]/.test(part) || part === parts[index])
}
