import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { StartupError } from '../../errors/startup-error.ts'
import { shownPath } from '../../support/shown-path.ts'
import { remedyFor, summaryOf } from '../../files/import-problem.ts'
import { explainedImport } from '../../files/place-of-error.ts'
import { packageOf } from '../../peers/missing-package.ts'
import { findPackageJSON } from '../doctor/find-package.ts'
import { readImports } from '../project/imports-of.ts'
import { findRoot, isInside, type Project, readManifest, shown } from '../project/project.ts'
import type { Failure, SentError } from './proof-process.ts'

/** Folder where the output was written, and the folder of its sources. */
interface Folders {
  readonly fresh: string
  readonly root: string
}

interface Explanation {
  readonly found: string
  readonly remedy: string
}

/** Makes one problem for each cause, which names the source files. */
export function problemsOfProof(failures: readonly Failure[], folders: Folders): StartupError[] {
  const causes = new Map<string, Failure[]>()
  for (const failure of failures) {
    const { message } = failure.error
    causes.set(message, [...(causes.get(message) ?? []), failure])
  }
  return [...causes.values()].map((same) => problemOf(same, folders))
}

function problemOf(same: readonly Failure[], folders: Folders): StartupError {
  const { error } = same[0]!
  const files = same.flatMap(({ file }) => (file === undefined ? [] : [fileURLToPath(file)]))
  const { found, remedy } =
    ofTypeScript(error, files, folders) ??
    ofMissingFile(error, folders) ??
    ofStartupError(error) ??
    ofAnyOther(error, files)
  return new StartupError(`${withSources(found, folders)}.`, {
    code: 'MORTAR_BUILD_PROOF',
    remedy,
    files: files.map((file) => sourceOf(shown(file, folders.fresh), folders)),
    cause: error,
  })
}

/**
 * Finds packages that only development installs and that every start imports: `npm ci --omit=dev` leaves them out.
 * @param entries the compiled files that a start runs.
 */
export function importsOfDevelopment(
  entries: readonly string[],
  manifest: Project['manifest'],
  folders: Folders,
): StartupError[] {
  const { devDependencies = {}, ...kinds } = manifest as Record<string, Readonly<Record<string, string>>>
  const kept = { ...kinds['dependencies'], ...kinds['optionalDependencies'], ...kinds['peerDependencies'] }
  const importers = new Map<string, string>()
  const files = new Set(entries)
  // The loop also reaches what it adds.
  for (const file of files)
    for (const { specifier, isLate } of readImports(file)) {
      if (isLate) continue
      if (specifier.startsWith('.')) files.add(join(dirname(file), specifier))
      const name = packageOf(specifier) ?? ''
      if (Object.hasOwn(devDependencies, name) && !Object.hasOwn(kept, name) && !importers.has(name))
        importers.set(name, file)
    }
  return [...importers].map(
    ([name, file]) =>
      new StartupError(
        `${withSources(file, folders)} imports ${name}, which is in "devDependencies" of package.json.`,
        {
          code: 'MORTAR_BUILD_PROOF',
          remedy: 'Production does not install it. Move it to "dependencies", then install again.',
          files: [sourceOf(shown(file, folders.fresh), folders)],
        },
      ),
  )
}

/** A package that consists of TypeScript files, as packages of a workspace often do. */
function ofTypeScript(
  { message }: SentError,
  files: readonly string[],
  { root }: Folders,
): Explanation | undefined {
  const [, file] = /^Unknown file extension "\.[cm]?tsx?" for (.+)$/m.exec(message) ?? []
  if (file === undefined) return undefined
  const folder = findRoot(dirname(file))
  const { name = basename(folder) } = readManifest(folder) as { readonly name?: string }
  const importer = files.find((each) =>
    readImports(each).some(({ specifier }) => isPackageIn(folder, packageOf(specifier), root)),
  )
  return {
    found: `${importer ?? files[0] ?? 'The application'} imports the package ${name}, whose files are TypeScript (${file}), which Node does not run`,
    remedy: `Compile ${name} to JavaScript, and let "exports" or "main" of its package.json name the compiled files.`,
  }
}

function isPackageIn(folder: string, name: string | undefined, root: string): boolean {
  const file = name === undefined ? undefined : findPackageJSON(name, root)
  return file !== undefined && realpathSync(dirname(file)) === realpathSync(folder)
}

/** A file that the compiler did not write into the output. */
function ofMissingFile({ message }: SentError, { fresh }: Folders): Explanation | undefined {
  const [, file, importer] =
    /^Cannot find module '([^']+)' imported from '?([^'\n]+?)'?$/m.exec(message) ??
    /^ENOENT: [^']*'([^']+)'/.exec(message) ??
    []
  if (file === undefined || !isInside(file, fresh)) return undefined
  const name = shown(file, fresh)
  if (importer === undefined)
    return {
      found: `The application reads ${name}, which is not in the output`,
      remedy:
        'A build has only modules. Keep the content in a module, or read the file from a folder outside the build.',
    }
  return {
    found: `${importer} imports ${name}, which is not in the output`,
    remedy: /\.[cm]?js$/.test(name)
      ? 'Set "allowJs": true in tsconfig.json, so that JavaScript files are part of the build.'
      : 'Write the extension of the source file in the import: the build replaces .ts by .js.',
  }
}

function ofStartupError({ name, message }: SentError): Explanation | undefined {
  const [, found, remedy] = /^([^]*?)\.?\n {2}Remedy: ([^]*?)(?: \[\w+\])?$/.exec(message) ?? []
  return name === 'StartupError' && found !== undefined ? { found, remedy: remedy! } : undefined
}

function ofAnyOther(error: SentError, files: readonly string[]): Explanation {
  const base = error.name === 'SyntaxError' ? new SyntaxError(error.message) : new Error(error.message)
  const cause = Object.assign(base, { stack: error.stack, code: error.code })
  const file = files[0] === undefined ? '' : `${files[0]}: `
  return explainedImport(cause) ?? { found: `${file}${summaryOf(cause)}`, remedy: remedyFor(cause) }
}

/** Names source files in place of compiled ones. Their lines differ. */
function withSources(text: string, folders: Folders): string {
  const places = [folders.fresh, shownPath(folders.fresh)]
    .map((folder) => folder.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`))
    .join('|')
  const pattern = new RegExp(String.raw`(?:file://)?(?:${places})/([^\s'":?)]+)(?::\d+)*`, 'g')
  return text.replaceAll(pattern, (_place, path: string) => shownPath(sourceOf(path, folders)))
}

function sourceOf(path: string, { root }: Folders): string {
  const source = join(root, path.replace(/\.([cm]?)js$/, '.$1ts'))
  return existsSync(source) ? source : join(root, path)
}
