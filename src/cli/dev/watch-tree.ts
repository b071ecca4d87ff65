import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import { collectChanges } from './collect-changes.ts'

/** Filter of the folders and files of a tree. */
export interface WatchFilter {
  /** @param path absolute. */
  folder(path: string, name: string): boolean
  file(path: string, name: string): boolean
}

/**
 * Reports changed, new and removed files below a folder, in batches. Each folder has its own watcher, because a
 * recursive one would enter `node_modules` too.
 * @returns a function that stops watching.
 */
export function watchTree(
  root: string,
  filter: WatchFilter,
  changed: (paths: readonly string[]) => void,
): () => void {
  const watchers = new Map<string, FSWatcher>()
  const changes = collectChanges(changed)

  function enter(folder: string, found: (path: string) => void): void {
    if (watchers.has(folder)) return
    const watcher = watch(folder, (_event, name) => {
      if (name !== null) look(folder, name)
    })
    watcher.on('error', () => leave(folder))
    watchers.set(folder, watcher)
    for (const name of entriesOf(folder)) visit(join(folder, name), name, found)
  }

  function visit(path: string, name: string, found: (path: string) => void): void {
    if (!isFolder(path)) {
      if (filter.file(path, name)) found(path)
    } else if (filter.folder(path, name)) enter(path, found)
  }

  function look(folder: string, name: string): void {
    const path = join(folder, name)
    if (watchers.has(path) && !isFolder(path)) leave(path)
    else visit(path, name, changes.touch)
  }

  /** Handles a deleted folder: all of its files are deleted too. */
  function leave(folder: string): void {
    for (const [path, watcher] of watchers) {
      if (path !== folder && !path.startsWith(`${folder}/`)) continue
      watcher.close()
      watchers.delete(path)
    }
    changes.touchBelow(folder)
  }

  enter(root, changes.know)
  return () => {
    changes.end()
    for (const watcher of watchers.values()) watcher.close()
  }
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
