import { realpath } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { NotFound } from '../../errors/http-error.ts'

/**
 * Returns the real path of a file below `root`. Symbolic links are followed inside the folder. `path` is relative to
 * `root` even if it begins with a slash.
 * @throws NotFound for a path that leaves the folder, directly or by a link, and for a dotfile unless `dotfiles`.
 * @throws the error of the file system for a path that does not exist.
 */
export async function placeBelow(root: string, path: string, dotfiles: boolean): Promise<string> {
  const base = resolve(root)
  const place = join(base, path)
  refuseOutside(base, place, dotfiles)
  const realPlace = await realpath(place)
  // A folder that a path without links begins with has no links itself, which saves one call of the file system.
  const isBelow = realPlace.startsWith(base + sep)
  refuseOutside(isBelow ? base : await realpath(base), realPlace, dotfiles)
  return realPlace
}

function refuseOutside(base: string, place: string, dotfiles: boolean): void {
  const inside = relative(base, place)
  const segments = inside.split(sep)
  // On Windows the path to another drive is absolute.
  const isOutside = segments[0] === '..' || isAbsolute(inside)
  const isHidden = !dotfiles && segments.some((segment) => segment.startsWith('.'))
  if (isOutside || isHidden) throw new NotFound('There is no such file.')
}
