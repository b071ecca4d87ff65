import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { manifestPath, MANIFEST_FOLDER, routeFilesOf } from '../../files/manifest.ts'
import { scanDirectory } from '../../files/scan-directory.ts'
import { renderManifest } from '../../files/write-manifest.ts'
import { type BuildRecord, hashSources, RECORD } from '../build/build-record.ts'
import type { Command, CommandInput } from '../command.ts'
import { compile } from '../build/compile.ts'
import { inspectProject } from '../project/inspect-project.ts'
import { refuseForeignOutput } from '../build/output-folder.ts'
import { findProject, type Project, PROJECT_OPTIONS, shown } from '../project/project.ts'

/** Checks the application and compiles it into an output that runs without its sources and without tsx. */
export const build: Command = {
  name: 'build',
  summary: 'Check the application and compile it, with a manifest of its routes',
  usage: 'build [--out FOLDER]',
  options: {
    ...PROJECT_OPTIONS,
    out: { type: 'string', help: 'output folder; dist by default' },
  },
  async run(input) {
    const begin = performance.now()
    const project = findProject(input)
    await refuseForeignOutput(project)
    const { routes } = await inspectProject(project)
    await writeManifest(project)
    const fresh = `${project.out}.new`
    if (!(await compileInto(project, fresh, input))) return 1
    await finish(project, fresh)
    const seconds = ((performance.now() - begin) / 1000).toFixed(1)
    input.terminal.note(
      `Built ${routes.length} routes into ${shown(project.out, input.directory)} in ${seconds} s.`,
    )
    return 0
  },
}

/** Writes the manifest beside the directory of routes, where git ignores it. */
export async function writeManifest({ routes }: Pick<Project, 'routes'>): Promise<string | undefined> {
  if (routes === undefined) return undefined
  const file = manifestPath(routes, '.ts')
  const files = routeFilesOf(await scanDirectory(routes))
  await mkdir(dirname(file), { recursive: true })
  await writeFile(join(dirname(file), '.gitignore'), '*\n')
  await writeFile(file, renderManifest(basename(routes), files))
  return file
}

/** Replaces the output only after a successful build. */
async function compileInto(project: Project, fresh: string, { terminal }: CommandInput): Promise<boolean> {
  await rm(fresh, { recursive: true, force: true })
  const { ok, report } = await compile(project, fresh)
  if (ok) return true
  terminal.note(report)
  terminal.note('The application was not built.')
  await rm(fresh, { recursive: true, force: true })
  return false
}

async function finish(project: Project, fresh: string): Promise<void> {
  const record: BuildRecord = {
    app: compiledName(project.app, project.root),
    ...(project.server === undefined ? {} : { server: compiledName(project.server, project.root) }),
    ...(project.routes === undefined ? {} : { routes: shown(project.routes, project.root) }),
    sources: await hashSources(fresh, project.root),
  }
  await mkdir(join(fresh, MANIFEST_FOLDER), { recursive: true })
  await writeFile(join(fresh, RECORD), `${JSON.stringify(record, null, 2)}\n`)
  await writeFile(join(fresh, 'package.json'), packageOf(project))
  await linkItself(project, fresh)
  await rm(project.out, { recursive: true, force: true })
  await rename(fresh, project.out)
}

function compiledName(file: string, root: string): string {
  return shown(file, root).replace(/\.(m?)ts$/, '.$1js')
}

/**
 * Builds package.json of the output: it marks the files as ES modules and lists what `npm install --omit=dev` installs.
 */
function packageOf({ manifest }: Project): string {
  const { name, version, dependencies } = manifest
  return `${JSON.stringify({ name, version, private: true, type: 'module', dependencies }, null, 2)}\n`
}

/** Adds a package that imports itself by name (the framework's examples do): in the output it is a dependency. */
async function linkItself({ manifest, root }: Project, fresh: string): Promise<void> {
  const { name, exports } = manifest
  if (typeof name !== 'string' || exports === undefined) return
  const link = join(fresh, 'node_modules', name)
  await mkdir(dirname(link), { recursive: true })
  await symlink(root, link)
}
