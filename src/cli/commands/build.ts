import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { manifestPath, MANIFEST_FOLDER, routeFilesOf } from '../../files/manifest.ts'
import { scanDirectory } from '../../files/scan-directory.ts'
import { renderManifest } from '../../files/write-manifest.ts'
import { type BuildRecord, hashSources, RECORD } from '../build/build-record.ts'
import type { Command, CommandInput } from '../command.ts'
import { compile } from '../build/compile.ts'
import { readLock, writeOutputPackage } from '../build/output-package.ts'
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
    // A broken lockfile is reported before the application is compiled.
    await readLock(project.root)
    const { routes } = await inspectProject(project)
    await writeManifest(project)
    const fresh = `${project.out}.new`
    if (!(await compileInto(project, fresh, input))) return 1
    const remark = await finish(project, fresh)
    const seconds = ((performance.now() - begin) / 1000).toFixed(1)
    input.terminal.note(
      `Built ${routes.length} routes into ${shown(project.out, input.directory)} in ${seconds} s.`,
    )
    if (remark !== undefined) input.terminal.note(remark)
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

/** @returns a note about the packages of the output. */
async function finish(project: Project, fresh: string): Promise<string | undefined> {
  const record: BuildRecord = {
    app: compiledName(project.app, project.root),
    ...(project.server === undefined ? {} : { server: compiledName(project.server, project.root) }),
    ...(project.routes === undefined ? {} : { routes: shown(project.routes, project.root) }),
    sources: await hashSources(fresh, project.root),
  }
  await mkdir(join(fresh, MANIFEST_FOLDER), { recursive: true })
  await writeFile(join(fresh, RECORD), `${JSON.stringify(record, null, 2)}\n`)
  const note = await writeOutputPackage(project, fresh)
  await linkItself(project, fresh)
  await rm(project.out, { recursive: true, force: true })
  await rename(fresh, project.out)
  return note
}

function compiledName(file: string, root: string): string {
  return shown(file, root).replace(/\.(m?)ts$/, '.$1js')
}

/** Adds a package that imports itself by name (the framework's examples do): in the output it is a dependency. */
async function linkItself({ manifest, root }: Project, fresh: string): Promise<void> {
  const { name, exports } = manifest
  if (typeof name !== 'string' || exports === undefined) return
  const link = join(fresh, 'node_modules', name)
  await mkdir(dirname(link), { recursive: true })
  await symlink(root, link)
}
