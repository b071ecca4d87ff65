import { basename } from 'node:path'
import { StartupErrors, type StartupError } from '../errors/startup-error.ts'
import type { RouteBatch, RouteSink } from '../routing/route-sink.ts'
import type { MiddlewareScope, Route } from '../routing/route.ts'
import { diagnostic, inFileOrder, type Finding } from './diagnostics.ts'
import { importModules, type ImportModule } from './import-modules.ts'
import { planRoutes } from './plan-routes.ts'
import type { PlannedFile } from './planned-file.ts'
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
  const readings = files.flatMap((planned) => {
    const module = modules.get(planned.file)
    if (module === undefined) return []
    const origin = `${label}/${planned.file}`
    return [{ file: planned.file, ...readOne(planned, module, origin) }]
  })
  return {
    batch: {
      routes: readings.flatMap(({ route }) => route ?? []),
      scopes: readings.flatMap(({ scope }) => scope ?? []),
    },
    problems: readings.flatMap(({ file, findings }) =>
      findings.map((finding) => diagnostic([file], finding)),
    ),
    warnings: readings.flatMap(({ file, warnings }) => warnings.map((warning) => `${file} ${warning}`)),
  }
}

interface OneReading {
  readonly route?: Route | undefined
  readonly scope?: MiddlewareScope | undefined
  readonly findings: readonly Finding[]
  readonly warnings: readonly string[]
}

function readOne(planned: PlannedFile, module: ModuleExports, origin: string): OneReading {
  const { pattern, segments } = planned
  if (planned.kind === 'middleware') {
    const { value: run, ...rest } = readMiddlewareModule(module)
    return { ...rest, scope: run && { prefix: pattern, middleware: { run, origin } } }
  }
  const { method } = planned
  const parameters = segments?.filter(({ kind }) => kind !== 'static').map(({ name }) => name)
  const { value, ...rest } = readRouteModule(module, { method, parameters })
  return { ...rest, route: value && { method, path: pattern, ...value, middleware: [], origin } }
}
