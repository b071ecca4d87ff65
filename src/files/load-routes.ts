import { basename } from 'node:path'
import { StartupErrors, type StartupError } from '../errors/startup-error.ts'
import type { RouteBatch, RouteSink } from '../routing/route-sink.ts'
import type { MiddlewareScope, Route } from '../routing/route.ts'
import { diagnostic, inFileOrder } from './diagnostics.ts'
import { importModules, type ImportModule } from './import-modules.ts'
import { planRoutes } from './plan-routes.ts'
import type { PlannedFile, PlannedMiddleware, PlannedRoute } from './planned-file.ts'
import { readMiddlewareModule } from './read-middleware.ts'
import { readRouteModule, type ModuleExports } from './read-module.ts'
import { absoluteDirectory, scanDirectory, type ReadFolder } from './scan-directory.ts'

/** What a caller may put in place of the disk and the module loader. */
export interface LoadRoutesOptions {
  readonly importModule?: ImportModule
  readonly readFolder?: ReadFolder
}

/**
 * Makes every route file of a directory an endpoint of the application, and every `_middleware` file a scope. The
 * directory is an absolute path or a `file:` URL. `listen()` waits for it; after `listen()` the routes work from then on.
 * @throws StartupErrors with every broken convention of the directory; then no route of it is added.
 * @throws StartupError `MORTAR_ROUTE_DIRECTORY_…` for a relative, missing or unreadable directory.
 */
export function loadRoutes(
  app: RouteSink,
  directory: string | URL,
  options: LoadRoutesOptions = {},
): Promise<void> {
  return app.trackLoad(load(app, directory, options), String(directory))
}

async function load(sink: RouteSink, given: string | URL, options: LoadRoutesOptions): Promise<void> {
  const directory = absoluteDirectory(given)
  const plan = planRoutes(await scanDirectory(directory, options.readFolder))
  const files = plan.files.map(({ file }) => file)
  const imported = await importModules(directory, files, options.importModule)
  const reading = readAll(plan.files, imported.modules, basename(directory))

  for (const warning of [...plan.warnings, ...reading.warnings])
    sink.warn(`${basename(directory)}/${warning}`)
  if (files.length === 0 && plan.problems.length === 0) sink.warn(`There is no route file in ${directory}.`)
  const problems = inFileOrder([...plan.problems, ...imported.problems, ...reading.problems])
  if (problems.length > 0) throw new StartupErrors(summaryOf(problems.length, directory), problems)
  sink.addRoutes(reading.batch)
}

function summaryOf(count: number, directory: string): string {
  return `${count} broken ${count === 1 ? 'convention' : 'conventions'} in the routes of ${directory}:`
}

interface Reading {
  readonly batch: RouteBatch
  readonly problems: readonly StartupError[]
  readonly warnings: readonly string[]
}

/** Reads the imported modules of a plan. `label` goes in front of a file where it is named outside this directory. */
function readAll(
  files: readonly PlannedFile[],
  modules: ReadonlyMap<string, ModuleExports>,
  label: string,
): Reading {
  const routes: Route[] = []
  const scopes: MiddlewareScope[] = []
  const problems: StartupError[] = []
  const warnings: string[] = []
  for (const planned of files) {
    const module = modules.get(planned.file)
    if (module === undefined) continue
    const origin = `${label}/${planned.file}`
    const reading =
      planned.kind === 'route'
        ? readRoute(planned, module, origin, routes)
        : readScope(planned, module, origin, scopes)
    problems.push(...reading.findings.map((finding) => diagnostic([planned.file], finding)))
    warnings.push(...reading.warnings.map((warning) => `${planned.file} ${warning}`))
  }
  return { batch: { routes, scopes }, problems, warnings }
}

function readRoute(
  { method, pattern, segments }: PlannedRoute,
  module: ModuleExports,
  origin: string,
  into: Route[],
) {
  const parameters = segments?.filter(({ kind }) => kind !== 'static').map(({ name }) => name)
  const reading = readRouteModule(module, { method, parameters })
  if (reading.value) into.push({ method, path: pattern, ...reading.value, middleware: [], origin })
  return reading
}

function readScope(
  { pattern }: PlannedMiddleware,
  module: ModuleExports,
  origin: string,
  into: MiddlewareScope[],
) {
  const reading = readMiddlewareModule(module)
  if (reading.value) into.push({ prefix: pattern, middleware: { run: reading.value, origin } })
  return reading
}
