import { StartupErrors, type StartupError } from '../../errors/startup-error.ts'
import { inFileOrder, shownFrom } from '../../files/diagnostics.ts'
import { importModules } from '../../files/import-modules.ts'
import { brokenModule, fileOf } from '../../files/load-around.ts'
import { planRoutes } from '../../files/plan-routes.ts'
import { scanDirectory } from '../../files/scan-directory.ts'
import type { RouteBatch } from '../../routing/route-sink.ts'
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

/** @param batch the routes of a directory, which the application has loaded. */
export async function createReloader(app: ProjectApp, batch: RouteBatch): Promise<Reloader> {
  const { directory = '' } = batch
  let modules = await modulesOf(directory, batch)
  /** Files that are not in use yet, because they were broken at the start or after a change. */
  const pending = new Set([...(batch.broken?.keys() ?? [])].map((origin) => fileOf(origin, directory)))

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

/**
 * Imports the modules of the routes in use, which come from Node's cache. A file that was added after the routes were
 * loaded is not among them, and one that was removed since cannot be imported. A broken one is served as its error.
 */
async function modulesOf(directory: string, { routes, scopes, broken }: RouteBatch): Promise<Modules> {
  const origins = [...routes, ...scopes.map(({ middleware }) => middleware)].map(({ origin }) => origin)
  const whole = origins.filter((origin) => broken?.has(origin) !== true)
  const { modules } = await importModules(
    directory,
    whole.map((origin) => fileOf(origin, directory)),
  )
  const errors = [...(broken ?? [])].filter(([origin]) => origins.includes(origin))
  return new Map([
    ...modules,
    ...errors.map(([origin, error]) => [fileOf(origin, directory), brokenModule(error)] as const),
  ])
}

function refuse(problems: readonly StartupError[]): void {
  if (problems.length === 1) throw problems[0]!
  if (problems.length > 1)
    throw new StartupErrors(`${problems.length} findings in the route files:`, inFileOrder(problems))
}
