import { isInside, type Project, shown } from '../project/project.ts'
import { planRoutes } from '../../files/plan-routes.ts'
import type { WatchFilter } from './watch-tree.ts'

/** Folders that no application runs from. */
const FOREIGN = new Set(['node_modules', 'coverage', 'dist', 'build', 'data', 'test', 'tests'])

const MODULE = /\.(?:m?[jt]sx?|json)$/
const TEST = /\.(?:test|spec)\.m?[jt]sx?$/

/** What is watched of a project: its modules and `.env` files, without tests and what a build made. */
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
 * Files to swap, when all changes are route or middleware files; undefined when something else changed, as what was
 * imported from there stays what it was until the process is started again.
 */
export function swappable(paths: readonly string[], { routes }: Project): readonly string[] | undefined {
  if (routes === undefined) return undefined
  const files = paths.map((path) => (isInside(path, routes) ? shown(path, routes) : undefined))
  return files.every((file) => file !== undefined && isRouteFile(file)) ? (files as string[]) : undefined
}

/** True also for one with a broken name, which a reload reports; false for a private module. */
function isRouteFile(file: string): boolean {
  const { files, problems } = planRoutes([file])
  return files.length > 0 || problems.length > 0
}
