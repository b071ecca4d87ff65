import { basename } from 'node:path'
import { StartupError, StartupErrors } from '../../errors/startup-error.ts'
import { readPlan } from '../../files/load-plan.ts'
import { planRoutes } from '../../files/plan-routes.ts'
import type { ModuleExports } from '../../files/read-module.ts'
import type { RouteBatch } from '../../routing/route-sink.ts'
import { DEFINITION_KEYS, type MiddlewareScope, type Route } from '../../routing/route.ts'
import type { ProjectApp } from '../project/inspect-project.ts'

/** Modules of a directory by relative file. */
export type Modules = ReadonlyMap<string, ModuleExports>

/** The files of a directory of routes, with the modules in use and the newly imported ones. */
export interface Versions {
  readonly app: ProjectApp
  readonly directory: string
  /** Every file below the directory, relative to it. */
  readonly paths: readonly string[]
  readonly old: Modules
  readonly fresh: Modules
}

/** The modules in use after a reload, and the errors of the files that are not. */
export interface Used {
  readonly modules: Modules
  readonly problems: readonly StartupError[]
}

/**
 * Swaps the routes of a directory for those of the newest modules. A file that breaks a convention, has invalid settings
 * or conflicts with another file keeps its old version, or no route if it is new. All others have their new version.
 * @throws StartupError if no new file causes the error. Then nothing changes.
 */
export function useNewest(versions: Versions): Used {
  const refused = new Set<string>()
  const problems: StartupError[] = []
  for (;;) {
    try {
      return { modules: swap(versions, refused), problems }
    } catch (error) {
      if (!(error instanceof StartupError)) throw error
      const causes = causesOf(error, versions, refused)
      if (causes.length === 0) throw error
      for (const file of causes) refused.add(file)
      problems.push(...(error instanceof StartupErrors ? error.errors : [error]))
    }
  }
}

/** @returns the modules in use. @throws StartupError for a broken file; then nothing changes. */
function swap({ app, directory, paths, old, fresh }: Versions, refused: ReadonlySet<string>): Modules {
  const usable = paths.filter((file) => !refused.has(file) || old.has(file))
  const modules = new Map(
    usable.flatMap((file) => {
      const module = (refused.has(file) ? undefined : fresh.get(file)) ?? old.get(file)
      return module === undefined ? [] : [[file, module] as const]
    }),
  )
  const warnings: string[] = []
  const warn = (message: string) => void warnings.push(message)
  const batch = readPlan({ directory, plan: planRoutes(usable), warn }, { modules, problems: [] })
  const present = app.batches.find((known) => known.directory === directory)
  app.replaceRoutes(withUnchanged(batch, present))
  for (const message of warnings) app.warn(message)
  return modules
}

/** Returns the new and changed files of an error. The files of compiled routes begin with the name of the directory. */
function causesOf(
  { files }: StartupError,
  { directory, paths, old, fresh }: Versions,
  refused: ReadonlySet<string>,
): string[] {
  const label = `${basename(directory)}/`
  const named = new Set(
    files.flatMap((file) => [file, file.startsWith(label) ? file.slice(label.length) : file]),
  )
  return paths.filter((file) => named.has(file) && !refused.has(file) && (fresh.has(file) || !old.has(file)))
}

/** Keeps the objects of unchanged routes and scopes, so that those stay compiled. */
export function withUnchanged(batch: RouteBatch, old: RouteBatch | undefined): RouteBatch {
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
