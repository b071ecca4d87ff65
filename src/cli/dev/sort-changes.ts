import { isInside, type Project, shown } from '../project/project.ts'
import type { WatchFilter } from './watch-tree.ts'

/** Folders that contain no code of the running application. */
const FOREIGN = new Set(['node_modules', 'coverage', 'dist', 'build', 'data', 'test', 'tests'])

const MODULE = /\.(?:m?[jt]sx?|json)$/
const TEST = /\.(?:test|spec)\.m?[jt]sx?$/

/** Filter of the watched files: modules and `.env` files, without tests, build output and unfinished build output. */
export function projectFilter({ root, out, routes }: Project): WatchFilter {
  const outputs = new Set([out, `${out}.new`, `${out}.replaced`])
  return {
    folder(path, name) {
      // A directory of routes may have a folder with any of these names.
      const isRoutes = routes !== undefined && (path === routes || isInside(path, routes))
      return !outputs.has(path) && !name.startsWith('.') && (isRoutes || !FOREIGN.has(name))
    },
    file(path, name) {
      if (name.startsWith('.env') && shown(path, root) === name) return true
      return !name.startsWith('.') && MODULE.test(name) && !TEST.test(name) && !name.endsWith('.d.ts')
    },
  }
}
