import type { RouteBatch, RouteSink } from '../routing/route-sink.ts'
import { checkOptions } from '../support/check-options.ts'
import { importModules, type ImportModule } from './import-modules.ts'
import { readPlan } from './load-plan.ts'
import { findManifest } from './manifest.ts'
import { planRoutes } from './plan-routes.ts'
import { absoluteDirectory, scanDirectory, type ReadFolder } from './scan-directory.ts'

/** What a caller may put in place of the disk and the module loader. */
export interface LoadRoutesOptions {
  readonly importModule?: ImportModule
  readonly readFolder?: ReadFolder
}

/**
 * Makes every route file of a directory an endpoint of the application, and every `_middleware` file a scope. The
 * directory is an absolute path or a `file:` URL. `listen()` waits for it; after `listen()` the routes work from then on.
 * In production the manifest that `mortar build` wrote is used, and nothing is scanned.
 * @throws StartupErrors with every broken convention of the directory; then no route of it is added.
 * @throws StartupError `MORTAR_ROUTE_DIRECTORY_…` for a relative, missing or unreadable directory, and
 * `MORTAR_MANIFEST_…` for a manifest that does not fit it.
 */
export function loadRoutes(
  app: RouteSink,
  directory: string | URL,
  options: LoadRoutesOptions = {},
): Promise<void> {
  return app.trackLoad(load(app, directory, options), String(directory))
}

async function load(sink: RouteSink, given: string | URL, options: LoadRoutesOptions): Promise<void> {
  checkOptions(options, { of: 'loadRoutes()', keys: { importModule: 'function', readFolder: 'function' } })
  const directory = absoluteDirectory(given)
  const manifest = sink.environment === 'production' ? await findManifest(directory, sink) : undefined
  if (manifest) return manifest.registerRoutes(sink)
  sink.addRoutes(await readDirectory(directory, (message) => sink.warn(message), options))
}

/**
 * Scans a directory and imports what it finds. `warn` takes what is only suspicious.
 * @throws StartupErrors with every broken convention.
 */
export async function readDirectory(
  directory: string,
  warn: (message: string) => void,
  options: LoadRoutesOptions = {},
): Promise<RouteBatch> {
  const plan = planRoutes(await scanDirectory(directory, options.readFolder))
  const files = plan.files.map(({ file }) => file)
  return readPlan({ directory, plan, warn }, await importModules(directory, files, options.importModule))
}
