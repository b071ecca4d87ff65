import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'

/** Which folders and files of a tree count. */
export interface WatchFilter {
  /** @param path absolute. */
  folder(path: string, name: string): boolean
  file(path: string, name: string): boolean
}

/** Waits this long after a change for others that belong to it, in milliseconds: an editor writes in several steps. */
const QUIET = 15

/**
 * Tells of changed, new and removed files below a folder, several changes at once as one. Each folder is watched by
 * itself, as watching recursively would enter `node_modules` too.
 * @returns a function that ends it.
 */
export function watchTree(
  root: string,
  filter: WatchFilter,
  changed: (paths: readonly string[]) => void,
): () => void {
  const watchers = new Map<string, FSWatcher>()
  const stamps = new Map<string, string>()
  const touched = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  function touch(path: string): void {
    touched.add(path)
    clearTimeout(timer)
    timer = setTimeout(report, QUIET)
  }

  /** A file counts when its time or size is another; reading alone makes events on some systems. */
  function report(): void {
    const paths = [...touched].filter((path) => {
      const stamp = stampOf(path)
      if (stamps.get(path) === stamp) return false
      if (stamp === undefined) stamps.delete(path)
      else stamps.set(path, stamp)
      return true
    })
    touched.clear()
    if (paths.length > 0) changed(paths.toSorted())
  }

  function enter(folder: string, found: (path: string) => void): void {
    if (watchers.has(folder)) return
    const watcher = watch(folder, (_event, name) => {
      if (name !== null) look(folder, name)
    })
    watcher.on('error', () => leave(folder))
    watchers.set(folder, watcher)
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry)
      if (isFolder(path)) {
        if (filter.folder(path, entry)) enter(path, found)
      } else if (filter.file(path, entry)) found(path)
    }
  }

  function look(folder: string, name: string): void {
    const path = join(folder, name)
    if (isFolder(path)) {
      if (filter.folder(path, name)) enter(path, touch)
    } else if (watchers.has(path)) leave(path)
    else if (filter.file(path, name)) touch(path)
  }

  /** A folder that is gone takes the files with it. */
  function leave(folder: string): void {
    watchers.get(folder)?.close()
    watchers.delete(folder)
    for (const path of stamps.keys()) if (path.startsWith(`${folder}/`)) touch(path)
  }

  enter(root, (path) => stamps.set(path, stampOf(path) ?? ''))
  return () => {
    clearTimeout(timer)
    for (const watcher of watchers.values()) watcher.close()
  }
}

function stampOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? undefined : `${stats.mtimeMs} ${stats.size}`
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
