import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { join, sep } from 'node:path'
import { collectChanges, statsOf } from './collect-changes.ts'

/** Filter of the folders and files of a tree. */
export interface WatchFilter {
  /** @param path absolute. */
  folder(path: string, name: string): boolean
  file(path: string, name: string): boolean
}

/**
 * Reports changed, new and removed files below a folder, in batches. Each folder has its own watcher, because a
 * recursive one would enter `node_modules` too. `note` gets a line if the system allows no further watcher.
 * @returns a function that stops watching.
 */
export function watchTree(
  root: string,
  filter: WatchFilter,
  changed: (paths: readonly string[]) => void,
  { note }: { readonly note: (text: string) => void },
): () => void {
  const watchers = new Map<string, { readonly watcher: FSWatcher; readonly folder: string | undefined }>()
  const changes = collectChanges(changed)
  let isFull = false

  function enter(folder: string, found: (path: string) => void): void {
    if (watchers.has(folder)) return
    const watcher = watchFolder(folder, (name) => look(folder, name))
    if (typeof watcher === 'string') {
      if (!isFull) note(tooManyWatchers(folder, watcher))
      isFull = true
      return
    }
    if (watcher === undefined) return
    watcher.on('error', () => leave(folder))
    watchers.set(folder, { watcher, folder: folderAt(folder) })
    for (const name of entriesOf(folder)) visit(join(folder, name), name, found)
  }

  function visit(path: string, name: string, found: (path: string) => void): void {
    if (folderAt(path) === undefined) {
      if (filter.file(path, name)) found(path)
    } else if (filter.folder(path, name)) enter(path, found)
  }

  function look(folder: string, name: string): void {
    const path = join(folder, name)
    const watched = watchers.get(path)
    // Another folder may have the name of a renamed one, which the old watcher follows under its new name.
    if (watched !== undefined && watched.folder !== folderAt(path)) leave(path)
    visit(path, name, changes.touch)
  }

  /** Handles a deleted folder: all of its files are deleted too. */
  function leave(folder: string): void {
    for (const [path, { watcher }] of watchers) {
      if (path !== folder && !path.startsWith(folder + sep)) continue
      watcher.close()
      watchers.delete(path)
    }
    changes.touchBelow(folder)
  }

  enter(root, changes.know)
  return () => {
    changes.end()
    for (const { watcher } of watchers.values()) watcher.close()
  }
}

/** Errors of a folder that was deleted after it was found, and of one that only another user may read. */
const NOT_WATCHED: ReadonlySet<string | undefined> = new Set(['ENOENT', 'EACCES', 'EPERM'])

/** Settings of Linux with a higher limit, by the error of a watcher beyond it. */
const LIMITS: ReadonlyMap<string | undefined, string> = new Map([
  ['ENOSPC', 'fs.inotify.max_user_watches=524288'],
  ['EMFILE', 'fs.inotify.max_user_instances=1024'],
])

/** Returns undefined for a folder that cannot be watched, or the limit that does not allow it. */
function watchFolder(folder: string, changed: (name: string) => void): FSWatcher | string | undefined {
  try {
    return watch(folder, (_event, name) => {
      if (name !== null) changed(name)
    })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (NOT_WATCHED.has(code)) return undefined
    const limit = LIMITS.get(code)
    if (limit !== undefined) return limit
    throw error
  }
}

function tooManyWatchers(folder: string, limit: string): string {
  return (
    `Changes in ${folder} and further folders are not noticed: the system allows no further watchers. ` +
    `Raise the limit, and start again: sudo sysctl ${limit}`
  )
}

/**
 * Identifies the folder at a path; a renamed folder keeps its identity. A new folder often gets the number of a deleted
 * one, so its time of creation counts too. Undefined for a file.
 */
function folderAt(path: string): string | undefined {
  const stats = statsOf(path)
  return stats?.isDirectory() === true ? `${stats.ino} ${stats.birthtimeMs}` : undefined
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
