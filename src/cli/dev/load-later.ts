import { subscribe } from 'node:diagnostics_channel'
import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { StartupError } from '../../errors/startup-error.ts'
import { importModules } from '../../files/import-modules.ts'
import { readPlan } from '../../files/load-plan.ts'
import { LOAD_ROUTES, loadDirectory, type LoadRequest } from '../../files/load-routes.ts'
import { planRoutes } from '../../files/plan-routes.ts'
import type { PlannedFile } from '../../files/planned-file.ts'
import type { ModuleExports } from '../../files/read-module.ts'
import { type ReadFolder, scanDirectory } from '../../files/scan-directory.ts'
import type { RouteBatch, RouteSink } from '../../routing/route-sink.ts'
import { type MiddlewareScope, ownerOf, type Route } from '../../routing/route.ts'
import { ignore } from '../../support/ignore.ts'
import { importTogether } from '../project/import-together.ts'
import type { ProjectApp } from '../project/import-app.ts'
import { matchesFile } from './match-file.ts'
import { DEFINITION_KEYS } from '../../routing/check-definition.ts'

/** The directories of routes whose files are not all imported yet. */
export interface LaterRoutes {
  /** Resolves when every file that could serve the request is in use. */
  prepare(method: string, path: string): Promise<void>
  /**
   * Imports all files, and reports broken ones as a start does.
   * @throws StartupError for a fault that no file causes.
   */
  finish(): Promise<void>
}

/** Number of files that are imported in one step, so that requests are served in between. */
const STEP = 10

/**
 * Makes `loadRoutes` import a route file when a request needs it: a thousand files take seconds to import, and after a
 * restart the developer waits for one of them.
 */
export function loadRoutesLater(): LaterRoutes {
  const directories: Directory[] = []
  subscribe(LOAD_ROUTES, (message) => {
    const request = message as LoadRequest
    const directory = createDirectory(request)
    directories.push(directory)
    request.begun = directory.begin()
  })
  return {
    async prepare(method, path) {
      for (const each of directories) await each.prepare(method, path)
    },
    async finish() {
      for (const each of directories) await each.finish()
    },
  }
}

interface Directory extends LaterRoutes {
  begin(): Promise<void>
}

function createDirectory({ sink, directory }: LoadRequest): Directory {
  const app = sink as unknown as ProjectApp
  const modules = new Map<string, ModuleExports>()
  const readFolder = rememberFolders()
  let files: readonly PlannedFile[] = []
  let isDone = false
  let finishing: Promise<void> | undefined
  /** The files of the last request, which come before the others. */
  let serving: Promise<unknown> | undefined

  const use = (wanted: readonly PlannedFile[]): Promise<RouteBatch> => readFiles(directory, modules, wanted)

  /** Middleware is imported at the start, so that nothing is served without it. */
  async function begin(): Promise<void> {
    files = planRoutes(await scanDirectory(directory, readFolder)).files
    try {
      app.addRoutes(await use(files.filter(({ kind }) => kind === 'middleware')))
    } catch (error) {
      if (!(error instanceof StartupError)) throw error
      app.addRoutes({ routes: [], scopes: [], directory })
      files = []
    }
  }

  async function prepare(method: string, path: string): Promise<void> {
    const wanted =
      isDone || isOwn(path, files, app) ? [] : files.filter((file) => matchesFile(file, method, path))
    if (wanted.length === 0) return isInCode(method, path, app) ? undefined : finish()
    if (wanted.every(({ file }) => modules.has(file))) return
    try {
      const using = use(wanted)
      serving = using.catch(ignore)
      const batch = await using
      // The application may have refused all routes together; then those without the broken ones follow.
      if (isDone) await finish()
      else replace(app, batch)
    } catch (error) {
      if (!(error instanceof StartupError)) throw error
      await finish()
    }
  }

  async function finishAll(): Promise<void> {
    for (let at = 0; at < files.length; at += STEP) {
      const step = files.slice(at, at + STEP).map(({ file }) => file)
      await importTogether(directory, step)
      await serving
    }
    const useAll = (batch: RouteBatch): void => {
      // Before a request in the same turn could replace all routes by those that it needs.
      isDone = true
      replace(app, batch)
    }
    await loadDirectory(receiverOf(app, useAll), directory, { readFolder })
  }

  const finish = (): Promise<void> => (finishing ??= finishAll())
  return { begin, prepare, finish }
}

/** True for a page of the framework, such as the document of all routes, also if a parameter of a file would fit. */
function isOwn(target: string, files: readonly PlannedFile[], app: ProjectApp): boolean {
  const [path] = target.split('?')
  return app.routes.some((route) => route.path === path) && !files.some(({ pattern }) => pattern === path)
}

/** True if a route that the application or a brick declares in code could serve a request that fits no file. */
function isInCode(method: string, target: string, app: ProjectApp): boolean {
  const declared = app.routes.filter((route) => ownerOf(route) !== 'the framework')
  return declared.some((route) => matchesFile({ ...route, pattern: route.path }, method, target))
}

/** Receives the routes in place of the application, which has the directory already. */
function receiverOf(app: ProjectApp, addRoutes: (batch: RouteBatch) => void): RouteSink {
  return {
    environment: app.environment,
    trackLoad: (work) => work,
    warn: (message) => app.warn(message),
    addRoutes,
  }
}

/** The files are those of the start: a later change starts another process. */
function rememberFolders(): ReadFolder {
  const known = new Map<string, Promise<readonly Dirent[]>>()
  return (path) => {
    const entries = known.get(path) ?? readdir(path, { withFileTypes: true })
    known.set(path, entries)
    return entries
  }
}

/** Imports files beside those in `modules`, and makes routes of all. @throws StartupErrors for every broken file. */
async function readFiles(
  directory: string,
  modules: Map<string, ModuleExports>,
  wanted: readonly PlannedFile[],
): Promise<RouteBatch> {
  const fresh = wanted.map(({ file }) => file).filter((file) => !modules.has(file))
  const imported = await importModules(directory, fresh)
  for (const [file, module] of imported.modules) modules.set(file, module)
  const plan = planRoutes([...modules.keys()])
  return readPlan({ directory, plan, warn: ignore }, { modules, problems: imported.problems })
}

function replace(app: ProjectApp, batch: RouteBatch): void {
  const present = app.batches.find(({ directory }) => directory === batch.directory)
  app.replaceRoutes(withUnchanged(batch, present))
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
