import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { StartupError } from '../../errors/startup-error.ts'
import { manifestPath, readManifestFiles, refuseStale } from '../../files/manifest.ts'
import { processVariables, STATE_VARIABLE, VERSION_VARIABLE } from '../../support/env/environment.ts'
import { type CommandInput, type CommandOptions, textOf } from '../command.ts'
import { findProject, findRoot, type Project } from '../project/project.ts'
import { productionVariables, stateFolder } from '../project/state-folder.ts'
import { type BuildRecord, isOlder, readRecord } from './build-record.ts'
import { keepCompiledCode } from './compile-cache.ts'

/** Options of the commands that run a build. */
export const BUILD_OPTIONS = {
  out: { type: 'string', help: 'output folder of the build; dist by default' },
  stale: { type: 'boolean', help: 'run the build although the sources have changed' },
} as const satisfies CommandOptions

/**
 * Prepares this process for the application of a build, and starts it.
 * @throws StartupError for a build that is missing, incomplete or older than its sources.
 */
export async function runBuild<T>(
  input: CommandInput,
  start: (compiled: Pick<Project, 'app' | 'server' | 'routes'>) => Promise<T>,
): Promise<T> {
  const { out, root, record } = findBuild(input)
  keepCompiledCode(out)
  await refuseBrokenManifest(out, record)
  if (root !== out && input.values['stale'] !== true) await refuseOldBuild({ out, root, record })
  const variables = processVariables()
  variables[VERSION_VARIABLE] ||= record.version
  variables[STATE_VARIABLE] = stateFolder(root, productionVariables(root, variables))
  refuseMissing(out, [record.app, record.server])
  return start({
    app: join(out, record.app),
    server: record.server === undefined ? undefined : join(out, record.server),
    routes: record.routes === undefined ? undefined : join(out, record.routes),
  })
}

/** The output of `mortar build`. */
export interface Build {
  readonly out: string
  /** Folder of the `.env` files: beside the sources, or the copied output itself. */
  readonly root: string
  readonly record: BuildRecord
}

/** Finds the build: the working directory if the output was copied there, else the output folder of the project. */
export function findBuild(input: CommandInput): Build {
  const given = textOf(input, 'out')
  const here = given === undefined ? readRecord(input.directory) : undefined
  if (here) return { out: input.directory, root: input.directory, record: here }
  const out = given === undefined ? findProject(input).out : resolve(input.directory, given)
  const record = readRecord(out)
  if (record) return { out, root: findRoot(input.directory), record }
  throw new StartupError(`There is no build in ${out}.`, {
    code: 'MORTAR_BUILD_MISSING',
    remedy:
      'Run `npx mortar build` first, or run this command in the folder of the output. If this is a copy of the output, its ' +
      'folder .framework is missing: copy everything that begins with a dot, too.',
  })
}

/** @throws StartupError for a part of the build that is not there, such as after an incomplete copy. */
function refuseMissing(out: string, files: readonly (string | undefined)[]): void {
  const missing = files.find((file) => file !== undefined && !existsSync(join(out, file)))
  if (missing === undefined) return
  throw new StartupError(`The build in ${out} has no ${missing}.`, {
    code: 'MORTAR_BUILD_MISSING',
    remedy: 'Run `npx mortar build` again, and copy its whole output.',
    files: [join(out, missing)],
  })
}

/** Checks the manifest before the start, because the start does not scan the routes. */
async function refuseBrokenManifest(out: string, { routes }: BuildRecord): Promise<void> {
  if (routes === undefined) return
  const directory = join(out, routes)
  const file = manifestPath(directory, '.js')
  if (existsSync(file)) return refuseStale(directory, await readManifestFiles(file))
  throw new StartupError(`The build in ${out} has no manifest of its routes (${file}).`, {
    code: 'MORTAR_MANIFEST_MISSING',
    remedy: 'Run `npx mortar build` again, and copy its output with the folders that begin with a dot.',
    files: [file],
  })
}

/** Compares the build with its sources, unless the output was copied away from them. */
async function refuseOldBuild({ out, root, record }: Build): Promise<void> {
  if (!existsSync(join(root, record.app.replace(/\.(m?)js$/, '.$1ts')))) return
  const { routes } = record
  if (routes !== undefined && existsSync(join(root, routes)))
    await refuseStale(join(root, routes), await readManifestFiles(manifestPath(join(out, routes), '.js')))
  if (!(await isOlder(record, root))) return
  throw new StartupError(`The build in ${out} is older than its sources.`, {
    code: 'MORTAR_BUILD_STALE',
    remedy: 'Run `npx mortar build` again, or start it as it is with --stale.',
  })
}
