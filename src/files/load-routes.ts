import { channel } from 'node:diagnostics_channel'
import { StartupError } from '../errors/startup-error.ts'
import type { RouteBatch, RouteSink } from '../routing/route-sink.ts'
import { checkOptions } from '../support/check-options.ts'
import { describeValue } from '../support/describe-value.ts'
import { isDevServer } from '../support/env/environment.ts'
import { importModules, type ImportModule } from './import-modules.ts'
import { readPlan } from './load-plan.ts'
import { findManifest } from './manifest.ts'
import { planRoutes } from './plan-routes.ts'
import { absoluteDirectory, scanDirectory, type ReadFolder } from './scan-directory.ts'

/** Replacements for the disk and the module loader. */
export interface LoadRoutesOptions {
  readonly importModule?: ImportModule
  readonly readFolder?: ReadFolder
}

/**
 * Adds every route file of a directory as an endpoint of the application, and every `_middleware` file as a scope. The
 * directory is an absolute path or a `file:` URL. `listen()` waits for a pending call; routes that are added later work
 * from then on. Production uses the manifest of `mortar build` and scans nothing. `mortar dev` serves the other routes
 * if some are broken.
 * @throws StartupErrors with every broken convention of the directory; then no route of it is added.
 * @throws StartupError `MORTAR_CLI_APP` for anything but an application.
 * @throws StartupError `MORTAR_ROUTE_DIRECTORY_…` for a relative, missing or unreadable directory, and
 * `MORTAR_MANIFEST_…` for a manifest that does not match it.
 */
export function loadRoutes(
  app: RouteSink,
  directory: string | URL,
  options: LoadRoutesOptions = {},
): Promise<void> {
  if (typeof (app as Partial<RouteSink> | undefined)?.trackLoad !== 'function')
    throw new StartupError(`loadRoutes() was given ${describeValue(app)}, which is not an application.`, {
      code: 'MORTAR_CLI_APP',
      remedy: 'Write `export const app = createApp(…)` in its module, and import app from there.',
    })
  return app.trackLoad(load(app, directory, options), String(directory))
}

/** Channel of the directories that `mortar dev` is about to load. A subscriber that loads one itself sets `begun`. */
export const LOAD_ROUTES = 'mortar:load-routes'

/** A directory, as published on `LOAD_ROUTES`. */
export interface LoadRequest {
  readonly sink: RouteSink
  readonly directory: string
  begun?: Promise<void>
}

async function load(sink: RouteSink, given: string | URL, options: LoadRoutesOptions): Promise<void> {
  checkOptions(options, { of: 'loadRoutes()', keys: { importModule: 'function', readFolder: 'function' } })
  const directory = absoluteDirectory(given)
  const manifest = sink.environment === 'production' ? await findManifest(directory, sink) : undefined
  if (manifest) return manifest.registerRoutes(sink)
  const request: LoadRequest = { sink, directory }
  if (isDevServer() && Object.keys(options).length === 0) channel(LOAD_ROUTES).publish(request)
  return request.begun ?? loadDirectory(sink, directory, options)
}

/** Loads a directory; under `mortar dev` without its broken files. @throws StartupErrors as `loadRoutes` does. */
export async function loadDirectory(
  sink: RouteSink,
  directory: string,
  options: LoadRoutesOptions = {},
): Promise<void> {
  try {
    sink.addRoutes(await readDirectory(directory, (message) => sink.warn(message), options))
  } catch (error) {
    if (!isDevServer() || sink.environment === 'production' || !(error instanceof StartupError)) throw error
    const { loadAround } = await import('./load-around.ts')
    await loadAround(sink, directory, options)
  }
}

/**
 * Scans a directory and imports its route files. `warn` receives suspicious findings that are not errors.
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
