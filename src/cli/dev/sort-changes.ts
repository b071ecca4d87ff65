import { isInside, type Project, shown } from '../project/project.ts'
import { planRoutes } from '../../files/plan-routes.ts'
import type { WatchFilter } from './watch-tree.ts'

/** Folders that contain no code of the running application. */
const FOREIGN = new Set(['node_modules', 'coverage', 'dist', 'build', 'data', 'test', 'tests'])

const MODULE = /\.(?:m?[jt]sx?|json)$/
const TEST = /\.(?:test|spec)\.m?[jt]sx?$/

/** Filter of the watched files: modules and `.env` files, without tests and build output. */
export function projectFilter({ root, out, routes }: Project): WatchFilter {
  return {
    folder(path, name) {
      // A directory of routes may have a folder with any of these names.
      const isRoutes = routes !== undefined && (path === routes || isInside(path, routes))
      return path !== out && !name.startsWith('.') && (isRoutes || !FOREIGN.has(name))
    },
    file(path, name) {
      if (name.startsWith('.env') && shown(path, root) === name) return true
      return !name.startsWith('.') && MODULE.test(name) && !TEST.test(name) && !name.endsWith('.d.ts')
    },
  }
}

/**
 * Returns the files to swap if all changes are route or middleware files. Returns undefined for any other change,
 * because an imported module is not reloaded until the process restarts.
 */
export function swappable(paths: readonly string[], { routes }: Project): readonly string[] | undefined {
  if (routes === undefined) return undefined
  const files = paths.map((path) => (isInside(path, routes) ? shown(path, routes) : undefined))
  return files.every((file) => file !== undefined && isRouteFile(file)) ? (files as string[]) : undefined
}

/**
 * True for a route or middleware file, also one with a wrong name, which a reload reports. False for a private module.
 */
function isRouteFile(file: string): boolean {
  const { files, problems } = planRoutes([file])
  return files.length > 0 || problems.length > 0
}
