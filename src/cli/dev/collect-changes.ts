import { statSync } from 'node:fs'

/** Waits this long after a change for others that belong to it, in milliseconds: an editor writes in several steps. */
const QUIET = 15

/** Files that something happened to, until it is told of them. */
export interface Changes {
  /** A file as it is before anything happened. */
  know(path: string): void
  touch(path: string): void
  /** Every known file of a folder that is gone. */
  touchBelow(folder: string): void
  end(): void
}

/**
 * Collects what happens to files and tells of all that changed at once. A file changed when its time or size is another,
 * as reading alone makes events on some systems.
 */
export function collectChanges(changed: (paths: readonly string[]) => void): Changes {
  const stamps = new Map<string, string>()
  const touched = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  function report(): void {
    const paths = [...touched].filter(update).toSorted()
    touched.clear()
    if (paths.length > 0) changed(paths)
  }

  /** @returns whether the file is another than it was. */
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
    know: (path) => void update(path),
    touch,
    touchBelow(folder) {
      for (const path of stamps.keys()) if (path.startsWith(`${folder}/`)) touch(path)
    },
    end: () => clearTimeout(timer),
  }
}

function stampOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? undefined : `${stats.mtimeMs} ${stats.size}`
}
