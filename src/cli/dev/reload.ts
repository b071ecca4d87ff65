import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { StartupErrors, type StartupError } from '../../errors/startup-error.ts'
import { importModules } from '../../files/import-modules.ts'
import { readPlan } from '../../files/load-plan.ts'
import { planRoutes } from '../../files/plan-routes.ts'
import type { ModuleExports } from '../../files/read-module.ts'
import { scanDirectory } from '../../files/scan-directory.ts'
import type { RouteBatch } from '../../routing/route-sink.ts'
import { DEFINITION_KEYS, type MiddlewareScope, type Route } from '../../routing/route.ts'
import type { ProjectApp } from '../project/inspect-project.ts'

/** Swaps the routes of one directory in a running application. */
export interface Reloader {
  /**
   * Imports the changed files again and swaps the routes. A module that cannot be imported keeps its old version.
   * @throws StartupError with the errors of the broken files; every other route keeps its old version or has its new
   * one.
   */
  reload(changed: readonly string[]): Promise<void>
}

/** @param directory the directory of routes, which the application has loaded. */
export async function createReloader(app: ProjectApp, directory: string): Promise<Reloader> {
  let modules = await modulesOf(directory)
  /** Changed files that are not in use yet, because one of them was broken. */
  const pending = new Set<string>()
  let version = 0

  async function reload(changed: readonly string[]): Promise<void> {
    for (const file of changed) pending.add(file)
    const plan = planRoutes(await scanDirectory(directory))
    const files = plan.files.map(({ file }) => file)
    const fresh = files.filter((file) => pending.has(file) || !modules.has(file))
    // Node evaluates a module again only under another URL.
    const query = `?reload=${++version}`
    const imported = await importModules(directory, fresh, (url) => import(url + query))
    const next = newest(files, modules, imported.modules)
    const batch = readPlan(
      { directory, plan, warn: (message) => app.warn(message) },
      { modules: next, problems: [] },
    )
    app.replaceRoutes(
      withUnchanged(
        batch,
        app.batches.find((known) => known.directory === directory),
      ),
    )
    modules = next
    for (const file of pending) if (imported.modules.has(file) || !files.includes(file)) pending.delete(file)
    refuse(imported.problems)
  }

  return { reload }
}

/** Imports a module; one that was imported before comes from Node's cache. */
async function modulesOf(directory: string): Promise<ReadonlyMap<string, ModuleExports>> {
  const { files } = planRoutes(await scanDirectory(directory))
  const entries = await Promise.all(
    files.map(async ({ file }) => {
      const url = pathToFileURL(join(directory, file)).href
      return [file, (await import(url)) as ModuleExports] as const
    }),
  )
  return new Map(entries)
}

function newest(
  files: readonly string[],
  old: ReadonlyMap<string, ModuleExports>,
  fresh: ReadonlyMap<string, ModuleExports>,
): ReadonlyMap<string, ModuleExports> {
  return new Map(
    files.flatMap((file) => {
      const module = fresh.get(file) ?? old.get(file)
      return module === undefined ? [] : [[file, module] as const]
    }),
  )
}

function refuse(problems: readonly StartupError[]): void {
  if (problems.length === 1) throw problems[0]!
  if (problems.length > 1) throw new StartupErrors(`${problems.length} route files are broken:`, problems)
}

/** Keeps the objects of unchanged routes and scopes, so that those stay compiled. */
function withUnchanged(batch: RouteBatch, old: RouteBatch | undefined): RouteBatch {
  const routes = new Map(old?.routes.map((route) => [route.origin, route]))
  const scopes = new Map(old?.scopes.map((scope) => [scope.middleware.origin, scope]))
  return {
    ...batch,
    routes: batch.routes.map((route) => same(route, routes.get(route.origin), isSameRoute)),
    scopes: batch.scopes.map((scope) => same(scope, scopes.get(scope.middleware.origin), isSameScope)),
  }
}

function same<T>(fresh: T, old: T | undefined, isSame: (a: T, b: T) => boolean): T {
  return old !== undefined && isSame(fresh, old) ? old : fresh
}

function isSameRoute(a: Route, b: Route): boolean {
  return (
    a.method === b.method &&
    a.path === b.path &&
    a.handler === b.handler &&
    DEFINITION_KEYS.every((key) => a.definition[key] === b.definition[key])
  )
}

function isSameScope(a: MiddlewareScope, b: MiddlewareScope): boolean {
  return a.prefix === b.prefix && a.middleware.run === b.middleware.run
}
