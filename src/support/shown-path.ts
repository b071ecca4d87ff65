import { isAbsolute, relative } from 'node:path'

/**
 * Returns a path as a terminal and an editor open it: relative to the working directory, or absolute outside of it.
 * The working directory itself is an empty string.
 */
export function shownPath(path: string): string {
  const inside = relative(process.cwd(), path)
  return (inside.startsWith('..') || isAbsolute(inside) ? path : inside).replaceAll('\\', '/')
}
