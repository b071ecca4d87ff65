import { rm, writeFile } from 'node:fs/promises'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { extname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { StartupErrors } from '../../errors/startup-error.ts'
import { MANIFEST_FOLDER, manifestPath } from '../../files/manifest.ts'
import { processVariables } from '../../support/env/environment.ts'
import { ignore } from '../../support/ignore.ts'
import { commandLineFolder } from '../framework-manifest.ts'
import { type BuildRecord, compiledFiles } from './build-record.ts'
import { readImports } from '../project/imports-of.ts'
import type { Project } from '../project/project.ts'
import { importsOfDevelopment, problemsOfProof } from './proof-problems.ts'
import type { Failure, Proof } from './proof-process.ts'

/** A build in the folder where it was written. */
interface Output {
  readonly fresh: string
  readonly record: BuildRecord
}

/**
 * Starts the output once, up to the point where it would connect and listen: in plain Node, links every compiled file and
 * assembles the application. Bun and Deno run TypeScript themselves and would prove nothing, so they skip this.
 * @throws StartupErrors `MORTAR_BUILD_PROOF` with every file that Node could not run.
 */
export async function proveOutput({ root, manifest }: Project, { fresh, record }: Output): Promise<void> {
  if ('bun' in process.versions || 'deno' in process.versions) return
  const files = (await compiledFiles(fresh)).map((file) => join(fresh, file))
  const late = await writeLateImports(files, join(fresh, MANIFEST_FOLDER))
  const routes = record.routes === undefined ? undefined : manifestPath(join(fresh, record.routes), '.js')
  const entries = [record.app, record.server].flatMap((file) =>
    file === undefined ? [] : [join(fresh, file)],
  )
  const proof: Proof = {
    files: [...files, ...late.keys()].map(urlOf),
    app: urlOf(join(fresh, record.app)),
    manifest: routes && urlOf(routes),
  }
  const failures = await runProof(proof, root)
  for (const file of late.keys()) await rm(file)
  const problems = [
    ...importsOfDevelopment(routes === undefined ? entries : [...entries, routes], manifest, { fresh, root }),
    ...problemsOfProof(withImporters(failures, late), { fresh, root }),
  ]
  if (problems.length > 0) throw new StartupErrors('The compiled application cannot start:', problems)
}

/**
 * Writes a module for each `import(…)` of a compiled file, because Node links what it names only when the call runs.
 * @returns the importers by the written files.
 */
async function writeLateImports(files: readonly string[], folder: string): Promise<Map<string, string>> {
  const written = new Map<string, string>()
  for (const importer of files)
    for (const { specifier, isLate } of readImports(importer)) {
      if (!isLate) continue
      const file = join(folder, `late-import-${written.size}.js`)
      const target = specifier.startsWith('.') ? new URL(specifier, urlOf(importer)).href : specifier
      await writeFile(file, `import ${JSON.stringify(target)}\n`)
      written.set(file, importer)
    }
  return written
}

/** Names the importers in place of the written files. A package that is not installed may be optional there. */
function withImporters(failures: readonly Failure[], late: ReadonlyMap<string, string>): Failure[] {
  return failures.flatMap(({ file, error }) => {
    const path = file === undefined ? '' : fileURLToPath(file)
    const importer = late.get(path)
    if (importer === undefined) return [{ file, error }]
    if (error.message.startsWith('Cannot find package')) return []
    return [{ file: urlOf(importer), error: { ...error, message: error.message.replaceAll(path, importer) } }]
  })
}

function urlOf(file: string): string {
  return pathToFileURL(file).href
}

/** The process has neither tsx nor another support of TypeScript, as in production. */
async function runProof(proof: Proof, root: string): Promise<readonly Failure[]> {
  const program = join(commandLineFolder(), `build/proof-process${extname(import.meta.filename)}`)
  const { NODE_OPTIONS = '', ...variables } = processVariables()
  const child = spawn(process.execPath, [...argumentsFor(program), program], {
    cwd: root,
    env: { ...variables, ...(!/\btsx\b/.test(NODE_OPTIONS) && { NODE_OPTIONS }), FRAMEWORK_MODE: 'inspect' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  // Not as an argument: Linux accepts 128 kB, and Windows 32 kB.
  child.send(proof, ignore)
  let output = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (output += text))
  let failures: readonly Failure[] | undefined
  child.on('message', (message: readonly Failure[]) => (failures = message))
  const [code] = (await once(child, 'close')) as [number | null]
  if (failures !== undefined) return failures
  const message = `the process ended with ${code} before it was assembled. ${output.trim().slice(-2000)}`
  return [{ file: undefined, error: { name: 'Error', message, stack: '' } }]
}

/** In the repository the program itself is TypeScript. */
function argumentsFor(program: string): string[] {
  if (program.endsWith('.ts')) return [...process.execArgv]
  const stripping = '--experimental-strip-types'
  return process.allowedNodeEnvironmentFlags.has(stripping) ? ['--no-experimental-strip-types'] : []
}
