import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { StartupError } from '../errors/startup-error.ts'
import type { RouteSink } from '../routing/route-sink.ts'
import { listOf } from './diagnostics.ts'
import { readPlan } from './load-plan.ts'
import { planRoutes } from './plan-routes.ts'
import type { ModuleExports } from './read-module.ts'
import { scanDirectory } from './scan-directory.ts'

/** The folder beside a directory of routes that holds what `mortar build` makes of it. */
export const MANIFEST_FOLDER = '.framework'

/** Route modules by their file, relative to the directory of routes. */
export type RouteModules = Readonly<Record<string, ModuleExports>>

/** What a manifest exports. */
export interface Manifest {
  readonly modules: RouteModules
  /** Adds the routes to an application. */
  registerRoutes(app: RouteSink): void
}

/**
 * Adds modules that were imported statically: what `registerRoutes` of a manifest calls. `directory` is where they are
 * from, and no file of it is read.
 * @throws StartupErrors with every broken convention.
 */
export function registerModules(app: RouteSink, directory: string | URL, modules: RouteModules): void {
  const path = withoutSlash(directory instanceof URL ? fileURLToPath(directory) : directory)
  const plan = planRoutes(Object.keys(modules))
  const imported = { modules: new Map(Object.entries(modules)), problems: [] }
  app.addRoutes(readPlan({ directory: path, plan, warn: (message) => app.warn(message) }, imported))
}

/** Where the manifest of a directory of routes is written: `/srv/app/routes` has `/srv/app/.framework/routes.ts`. */
export function manifestPath(directory: string, extension: '.ts' | '.js'): string {
  return join(dirname(directory), MANIFEST_FOLDER, basename(directory) + extension)
}

/**
 * The manifest of a directory of routes. A compiled one is believed, as nothing is to be scanned in production; one in
 * TypeScript stands beside sources that may have changed, and is compared with them. Without one a warning is given.
 * @throws StartupError `MORTAR_MANIFEST_STALE` naming the files that differ.
 */
export async function findManifest(
  directory: string,
  sink: Pick<RouteSink, 'warn'>,
): Promise<Manifest | undefined> {
  const compiled = manifestPath(directory, '.js')
  if (existsSync(compiled)) return importManifest(compiled)
  const source = manifestPath(directory, '.ts')
  if (existsSync(source)) {
    await refuseStale(directory, await readManifestFiles(source))
    return importManifest(source)
  }
  sink.warn(
    `There is no manifest of ${directory}, so it is scanned: run \`mortar build\` and start what it made ` +
      '(MORTAR_MANIFEST_MISSING).',
  )
  return undefined
}

/** @throws StartupError `MORTAR_MANIFEST_STALE` when the files of a directory are not those of its manifest. */
export async function refuseStale(directory: string, listed: readonly string[]): Promise<void> {
  const present = new Set(routeFilesOf(await scanDirectory(directory)).map(withoutExtension))
  const known = new Set(listed.map(withoutExtension))
  const added = [...present].filter((file) => !known.has(file))
  const gone = [...known].filter((file) => !present.has(file))
  if (added.length === 0 && gone.length === 0) return
  const parts = [
    ...(added.length > 0 ? [`it lacks ${listOf(added)}`] : []),
    ...(gone.length > 0 ? [`it has ${listOf(gone)}, which is not there any more`] : []),
  ]
  throw new StartupError(`The manifest of ${directory} is stale: ${parts.join(', and ')}.`, {
    code: 'MORTAR_MANIFEST_STALE',
    remedy: 'Run `mortar build` again.',
    files: [...added, ...gone],
  })
}

/** The files that a manifest lists, compiled or not, without importing them: one may be gone. */
export async function readManifestFiles(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8')
  return [...text.matchAll(/^ +'((?:[^'\\]|\\.)+)': module\d+,$/gm)].map(([, name]) =>
    name!.replaceAll(/\\(.)/g, '$1'),
  )
}

/** Files that are routes or middleware, of all the files below a directory; those that break a convention too. */
export function routeFilesOf(paths: readonly string[]): string[] {
  return planRoutes(paths).files.map(({ file }) => file)
}

async function importManifest(file: string): Promise<Manifest> {
  const exports = (await import(pathToFileURL(file).href)) as Partial<Manifest>
  if (typeof exports.registerRoutes === 'function' && typeof exports.modules === 'object')
    return exports as Manifest
  throw new StartupError(`${file} is no manifest of routes.`, {
    code: 'MORTAR_MANIFEST_STALE',
    remedy: 'Run `mortar build` again; nobody writes this file by hand.',
    files: [file],
  })
}

/** A route keeps its name when it is compiled, and gets another extension. */
function withoutExtension(file: string): string {
  return file.slice(0, file.lastIndexOf('.'))
}

function withoutSlash(path: string): string {
  return path.replace(/[/\\]+$/, '')
}
