import type { Dirent } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { StartupError } from '../errors/startup-error.ts'
import type { RouteFileCode } from '../routing/finding.ts'
import { byCodeUnits } from './diagnostics.ts'
import { isIgnoredFolder } from './base-name.ts'

/** Lists the entries of one folder, in any order. */
export type ReadFolder = (path: string) => Promise<readonly Dirent[]>

/**
 * Lists the files below a directory as relative paths with slashes, in code-unit order. Private and hidden folders and
 * `node_modules` are skipped. A link to a folder is followed, unless that folder contains the link.
 * @throws StartupError `MORTAR_ROUTE_DIRECTORY_…` when the directory is missing or cannot be read.
 */
export async function scanDirectory(
  directory: string,
  readFolder: ReadFolder = readEntries,
): Promise<string[]> {
  const files: string[] = []

  async function visit(folder: string, ancestors: readonly string[]): Promise<void> {
    const path = join(directory, folder)
    const place = await realpath(path)
    if (ancestors.includes(place)) return
    for (const entry of await readFolder(path)) {
      const relative = folder === '' ? entry.name : `${folder}/${entry.name}`
      const kind = await kindOf(entry, join(directory, relative))
      if (kind === 'file') files.push(relative)
      else if (kind === 'folder' && !isIgnoredFolder(entry.name)) await visit(relative, [...ancestors, place])
    }
  }

  try {
    await visit('', [])
  } catch (error) {
    throw unreadable(directory, error)
  }
  return files.toSorted(byCodeUnits)
}

/**
 * Returns the absolute path of a directory of routes, given as an absolute path or a `file:` URL.
 * @throws StartupError `MORTAR_ROUTE_DIRECTORY_RELATIVE` for anything else.
 */
export function absoluteDirectory(directory: string | URL): string {
  if (directory instanceof URL && directory.protocol === 'file:') return fileURLToPath(directory)
  if (typeof directory === 'string' && isAbsolute(directory)) return directory
  throw refusal(
    'MORTAR_ROUTE_DIRECTORY_RELATIVE',
    `loadRoutes was given ${JSON.stringify(directory) ?? 'no directory'}, which is not an absolute path: ` +
      'it would resolve against the working directory, and the routes would depend on where the process was started.',
    "Write join(import.meta.dirname, 'routes'), or new URL('./routes', import.meta.url).",
  )
}

function readEntries(path: string): Promise<Dirent[]> {
  return readdir(path, { withFileTypes: true })
}

async function kindOf(entry: Dirent, path: string): Promise<'file' | 'folder' | 'other'> {
  // A broken link counts as a file: if it has the name of a route, its import reports the error.
  const target = entry.isSymbolicLink() ? await stat(path).catch(() => undefined) : entry
  if (target === undefined || target.isFile()) return 'file'
  return target.isDirectory() ? 'folder' : 'other'
}

function unreadable(directory: string, error: unknown): StartupError {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT')
    return refusal(
      'MORTAR_ROUTE_DIRECTORY_MISSING',
      `The directory of routes ${directory} does not exist.`,
      'Create it, or give loadRoutes the directory that holds the route files.',
      error,
    )
  return refusal(
    'MORTAR_ROUTE_DIRECTORY_UNREADABLE',
    `The directory of routes ${directory} cannot be read${typeof code === 'string' ? ` (${code})` : ''}.`,
    code === 'ENOTDIR'
      ? 'Pass loadRoutes a directory, not a file.'
      : 'Allow the process to read it and its folders.',
    error,
  )
}

function refusal(code: RouteFileCode, found: string, remedy: string, cause?: unknown): StartupError {
  return new StartupError(found, { code, remedy, ...(cause === undefined ? {} : { cause }) })
}
