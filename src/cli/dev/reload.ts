import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { StartupErrors, type StartupError } from '../../errors/startup-error.ts'
import { inFileOrder, shownFrom } from '../../files/diagnostics.ts'
import { importModules } from '../../files/import-modules.ts'
import { planRoutes } from '../../files/plan-routes.ts'
import type { ModuleExports } from '../../files/read-module.ts'
import { scanDirectory } from '../../files/scan-directory.ts'
import type { ProjectApp } from '../project/inspect-project.ts'
import { type Modules, useNewest } from './use-newest.ts'

/** Swaps the routes of one directory in a running application. */
export interface Reloader {
  /**
   * Imports the changed files again and swaps the routes. A broken file keeps its old version.
   * @param version of this reload.
   * @throws StartupError with the errors of the broken files; every other file has its new version.
   */
  reload(changed: readonly string[], version: number): Promise<void>
}

/** @param directory the directory of routes, which the application has loaded. */
export async function createReloader(app: ProjectApp, directory: string): Promise<Reloader> {
  let modules = await modulesOf(directory)
  /** Changed files that are not in use yet, because they were broken. */
  const pending = new Set<string>()

  async function reload(changed: readonly string[], version: number): Promise<void> {
    for (const file of changed) pending.add(file)
    const paths = await scanDirectory(directory)
    const files = planRoutes(paths).files.map(({ file }) => file)
    const fresh = files.filter((file) => pending.has(file) || !modules.has(file))
    // Node evaluates a module again only under another URL.
    const query = `?reload=${version}`
    const imported = await importModules(directory, fresh, (url) => import(url + query))
    const used = useNewest({ app, directory, paths, old: modules, fresh: imported.modules })
    modules = used.modules
    for (const file of pending) if (modules.get(file) === imported.modules.get(file)) pending.delete(file)
    refuse([...shownFrom(directory, imported.problems), ...used.problems])
  }

  return { reload }
}

/** Imports a module; one that was imported before comes from Node's cache. */
async function modulesOf(directory: string): Promise<Modules> {
  const { files } = planRoutes(await scanDirectory(directory))
  const entries = await Promise.all(
    files.map(async ({ file }) => {
      const url = pathToFileURL(join(directory, file)).href
      return [file, (await import(url)) as ModuleExports] as const
    }),
  )
  return new Map(entries)
}

function refuse(problems: readonly StartupError[]): void {
  if (problems.length === 1) throw problems[0]!
  if (problems.length > 1)
    throw new StartupErrors(`${problems.length} findings in the route files:`, inFileOrder(problems))
}
