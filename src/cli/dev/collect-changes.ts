import { type Stats, statSync } from 'node:fs'
import { sep } from 'node:path'

/** Milliseconds to wait after a change for related ones, because an editor writes in several steps. */
const QUIET = 15

/** Collector of changed files, which it reports in batches. */
export type Changes = ReturnType<typeof collectChanges>

/**
 * Collects file events and reports the changed files together. A file has changed if its modification time or size
 * differs, because on some systems reading a file causes events too.
 */
export function collectChanges(changed: (paths: readonly string[]) => void) {
  const stamps = new Map<string, string>()
  const touched = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  function report(): void {
    const paths = [...touched].filter(update).toSorted()
    touched.clear()
    if (paths.length > 0) changed(paths)
  }

  /** @returns true if the file has changed since the last call. */
  function update(path: string): boolean {
    const stamp = stampOf(path)
    if (stamps.get(path) === stamp) return false
    if (stamp === undefined) stamps.delete(path)
    else stamps.set(path, stamp)
    return true
  }

  function touch(path: string): void {
    touched.add(path)
    clearTimeout(timer)
    timer = setTimeout(report, QUIET)
  }

  return {
    /** Records the initial state of a file. */
    know: (path: string) => void update(path),
    touch,
    /** Marks every known file of a deleted folder as changed. */
    touchBelow(folder: string) {
      for (const path of stamps.keys()) if (path.startsWith(folder + sep)) touch(path)
    },
    end: () => clearTimeout(timer),
  }
}

function stampOf(path: string): string | undefined {
  const stats = statsOf(path)
  return stats === undefined ? undefined : `${stats.mtimeMs} ${stats.size}`
}

/**
 * Returns undefined for a path that does not exist, also for a link to itself, and in a folder that this user may list and
 * not enter.
 */
export function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
