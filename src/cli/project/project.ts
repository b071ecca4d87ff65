import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { StartupError } from '../../errors/startup-error.ts'
import { isObject } from '../../support/describe-value.ts'
import { type CommandInput, type CommandOptions, textOf } from '../command.ts'

/** Locations of the parts of an application, as absolute paths. */
export interface Project {
  /** The folder of package.json and of the `.env` files. */
  readonly root: string
  /** The module that exports `app`. */
  readonly app: string
  /** The module that starts the application, if there is one beside `app`. */
  readonly server: string | undefined
  /** The directory of routes, if there is one. */
  readonly routes: string | undefined
  /** Output folder of `mortar build`. */
  readonly out: string
  /** package.json, or an empty object. */
  readonly manifest: Readonly<Record<string, unknown>>
}

/** The key `mortar` of package.json; paths are relative to it. */
interface Settings {
  readonly app?: string
  readonly server?: string
  readonly routes?: string
  readonly out?: string
}

/** Options of every command that works on an application. */
export const PROJECT_OPTIONS = {
  app: { type: 'string', help: 'the module that exports app' },
  routes: { type: 'string', help: 'the directory of routes' },
} as const satisfies CommandOptions

/** Extensions of modules in order of preference. */
const EXTENSIONS = ['.ts', '.mts', '.js', '.mjs'] as const

/**
 * Finds an application from the working directory: by the options `--app` and `--routes`, then the key `mortar` of the
 * nearest package.json, then by convention: `app.ts` or `src/app.ts`, with `routes/` and `server.ts` beside it.
 * @throws StartupError `MORTAR_CLI_APP` if there is no application.
 */
export function findProject(input: Pick<CommandInput, 'values' | 'directory'>): Project {
  const root = findRoot(input.directory)
  const manifest = readManifest(root)
  const settings = settingsOf(manifest, root)
  const given = textOf(input, 'app')
  const app = given === undefined ? findApp(root, input.directory, settings) : resolve(input.directory, given)
  if (app === undefined || !isFile(app)) throw noApp(input.directory, app)
  const beside = dirname(app)
  const server = settings.server === undefined ? findModule(beside, 'server') : join(root, settings.server)
  return {
    root,
    app,
    server,
    routes: findRoutes(input, settings, { root, beside }),
    out: resolve(root, textOf(input, 'out') ?? settings.out ?? 'dist'),
    manifest,
  }
}

/** Formats a path for output: relative to the working directory, with slashes. */
export function shown(path: string, from: string): string {
  return relative(from, path).split(sep).join('/') || '.'
}

/** Returns the nearest parent folder with a package.json, or the working directory itself. */
export function findRoot(directory: string): string {
  let folder = directory
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder)
    if (parent === folder) return directory
    folder = parent
  }
  return folder
}

function findApp(root: string, directory: string, settings: Settings): string | undefined {
  const own = directory === root ? undefined : findModule(directory, 'app')
  if (own !== undefined) return own
  if (settings.app !== undefined) return join(root, settings.app)
  return findModule(root, 'app') ?? findModule(join(root, 'src'), 'app')
}

function findRoutes(
  input: Pick<CommandInput, 'values' | 'directory'>,
  settings: Settings,
  { root, beside }: { readonly root: string; readonly beside: string },
): string | undefined {
  const given = textOf(input, 'routes')
  if (given !== undefined) return resolve(input.directory, given)
  if (settings.routes !== undefined) return resolve(root, settings.routes)
  const conventional = join(beside, 'routes')
  return existsSync(conventional) ? conventional : undefined
}

/** Finds the file `name` with the extension of a module in a folder. */
export function findModule(folder: string, name: string): string | undefined {
  return EXTENSIONS.map((extension) => join(folder, name + extension)).find(isFile)
}

/** False for a folder, and for a path that does not exist. */
export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

/** True for a path inside a folder. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '' && !way.startsWith('..') && !isAbsolute(way)
}

/**
 * Reads package.json of a folder. Without the file it returns an empty object.
 * @throws StartupError `MORTAR_CLI_PACKAGE` for anything but a JSON object.
 */
export function readManifest(root: string): Readonly<Record<string, unknown>> {
  const file = join(root, 'package.json')
  if (!existsSync(file)) return {}
  let manifest: unknown
  try {
    manifest = JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    const found = (cause as Error).message.replace('\ufeff', 'U+FEFF (remove this byte order mark)')
    throw brokenManifest(root, `is not valid JSON: ${found}`, cause)
  }
  if (!isObject(manifest)) throw brokenManifest(root, 'is not a JSON object.')
  return manifest
}

function settingsOf({ mortar = {} }: Project['manifest'], root: string): Settings {
  if (!isObject(mortar)) throw brokenManifest(root, 'has a "mortar" that is not a JSON object.')
  for (const key of ['app', 'server', 'routes', 'out'])
    if (mortar[key] !== undefined && typeof mortar[key] !== 'string')
      throw brokenManifest(root, `has a "mortar" whose "${key}" is not a path.`)
  return mortar
}

function brokenManifest(root: string, found: string, cause?: unknown): StartupError {
  const file = join(root, 'package.json')
  const remedy = 'Fix the file at the place that this message names.'
  return new StartupError(`${file} ${found}`, { code: 'MORTAR_CLI_PACKAGE', remedy, files: [file], cause })
}

function noApp(directory: string, app: string | undefined): StartupError {
  const found = `There is no ${app ?? `app.ts or src/app.ts in ${directory}`}.`
  return new StartupError(found, {
    code: 'MORTAR_CLI_APP',
    remedy:
      'Run the command in the folder of the application, or name its module: --app FILE, or "mortar": { "app": … } in package.json.',
  })
}
