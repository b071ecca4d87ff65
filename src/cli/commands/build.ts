import { rm, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { manifestPath, routeFilesOf } from '../../files/manifest.ts'
import { scanDirectory } from '../../files/scan-directory.ts'
import { renderManifest } from '../../files/write-manifest.ts'
import { makeFolder } from '../../support/make-folder.ts'
import { type BuildRecord, compiledFiles, hashSources, RECORD, versionOf } from '../build/build-record.ts'
import type { Command } from '../command.ts'
import { compile } from '../build/compile.ts'
import { readLock, writeOutputPackage } from '../build/output-package.ts'
import { inspectProject } from '../project/inspect-project.ts'
import { refuseForeignOutput } from '../build/output-folder.ts'
import { proveOutput } from '../build/prove.ts'
import { replaceOutput } from '../build/replace-output.ts'
import { replaceFile } from '../replace-file.ts'
import { findProject, type Project, PROJECT_OPTIONS, shown } from '../project/project.ts'
import type { Terminal } from '../terminal.ts'

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
    await writeManifest(project)
    const { routes, remark } = await buildInto(`${project.out}.new`, project, input.terminal)
    if (routes === undefined) return 1
    const seconds = ((performance.now() - begin) / 1000).toFixed(1)
    input.terminal.note(`Built ${routes} routes into ${shown(project.out, input.directory)} in ${seconds} s.`)
    if (remark !== undefined) input.terminal.note(remark)
    return 0
  },
}

interface Built {
  /** The number of routes; undefined if the compiler reported errors. */
  readonly routes?: number
  /** A note about the packages of the output. */
  readonly remark?: string | undefined
}

/** Writes the output into a new folder, which replaces the previous output only if every step succeeds. */
async function buildInto(fresh: string, project: Project, terminal: Terminal): Promise<Built> {
  await rm(fresh, { recursive: true, force: true })
  try {
    const routes = await checkAndCompile(fresh, project, terminal)
    if (routes === undefined) return {}
    const record = await describeOutput(project, fresh)
    const remark = await writeOutputPackage(project, fresh)
    await linkItself(project, fresh)
    await proveOutput(project, { fresh, record })
    await replaceOutput(fresh, project.out)
    return { routes, remark }
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
}

/**
 * Assembles the application while the compiler runs in a process of its own. An error of the application is reported in
 * place of what the compiler says about it.
 */
async function checkAndCompile(
  fresh: string,
  project: Project,
  terminal: Terminal,
): Promise<number | undefined> {
  const [inspected, compiled] = await Promise.allSettled([inspectProject(project), compile(project, fresh)])
  if (inspected.status === 'rejected') throw inspected.reason
  if (compiled.status === 'rejected') throw compiled.reason
  const { ok, report } = compiled.value
  // A broken job stops the build like a broken route.
  await inspected.value.entries()
  if (ok) return inspected.value.routes.length
  terminal.note(report)
  terminal.note('The application was not built.')
  return undefined
}

/** Writes the manifest beside the directory of routes, where git ignores it. */
export async function writeManifest({ routes }: Pick<Project, 'routes'>): Promise<string | undefined> {
  if (routes === undefined) return undefined
  const file = manifestPath(routes, '.ts')
  const files = routeFilesOf(await scanDirectory(routes))
  replaceFile(join(dirname(file), '.gitignore'), '*\n')
  replaceFile(file, renderManifest(basename(routes), files))
  return file
}

async function describeOutput(project: Project, fresh: string): Promise<BuildRecord> {
  const files = await compiledFiles(fresh)
  const sources = await hashSources(files, project.root)
  const record: BuildRecord = {
    app: compiledName(project.app, project.root),
    ...(project.server === undefined ? {} : { server: compiledName(project.server, project.root) }),
    ...(project.routes === undefined ? {} : { routes: shown(project.routes, project.root) }),
    files,
    sources,
    version: versionOf(project.root, sources),
  }
  replaceFile(join(fresh, RECORD), `${JSON.stringify(record, null, 2)}\n`)
  return record
}

function compiledName(file: string, root: string): string {
  return shown(file, root).replace(/\.(m?)ts$/, '.$1js')
}

/** Adds a package that imports itself by name (the framework's examples do): in the output it is a dependency. */
async function linkItself({ manifest, root }: Project, fresh: string): Promise<void> {
  const { name, exports } = manifest
  if (typeof name !== 'string' || exports === undefined) return
  const link = join(fresh, 'node_modules', name)
  makeFolder(dirname(link))
  await symlink(root, link)
}
