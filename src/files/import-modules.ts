import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { StartupError } from '../errors/startup-error.ts'
import { missingPackageOf, missingPackagesError } from '../peers/missing-package.ts'
import { diagnostic } from './diagnostics.ts'
import type { Finding } from '../routing/finding.ts'
import type { ModuleExports } from './read-module.ts'

/** Imports the module at a `file:` URL. A reload passes a function that adds a query, so that the module runs again. */
export type ImportModule = (url: string) => Promise<ModuleExports>

/** Imported modules by relative file, and one problem for each cause of failed imports. */
export interface ImportedModules {
  readonly modules: ReadonlyMap<string, ModuleExports>
  readonly problems: readonly StartupError[]
}

/**
 * Imports files of a directory one after another in the given order, so that side effects of modules happen in the same
 * order everywhere. Files that fail for the same cause share one problem.
 */
export async function importModules(
  directory: string,
  files: readonly string[],
  importModule: ImportModule = importNative,
): Promise<ImportedModules> {
  const modules = new Map<string, ModuleExports>()
  const failures = new Map<unknown, { cause: unknown; files: string[] }>()
  for (const file of files) {
    try {
      modules.set(file, await importModule(pathToFileURL(join(directory, file)).href))
    } catch (cause) {
      const reason = reasonOf(cause, file)
      const failure = failures.get(reason) ?? { cause, files: [] }
      failures.set(reason, failure)
      failure.files.push(file)
    }
  }
  return { modules, problems: problemsOf([...failures.values()]) }
}

interface Failure {
  readonly cause: unknown
  readonly files: readonly string[]
}

/** Packages that are not installed become one problem, whichever files import them. */
function problemsOf(failures: readonly Failure[]): StartupError[] {
  const missing = failures.flatMap(({ cause }) => missingPackageOf(cause) ?? [])
  const others = failures.filter(({ cause }) => missingPackageOf(cause) === undefined)
  return [
    ...(missing.length === 0 ? [] : [missingPackagesError(missing)]),
    ...others.map((failure) => importProblem(failure)),
  ]
}

function importNative(url: string): Promise<ModuleExports> {
  return import(url) as Promise<ModuleExports>
}

/** Key of a cause: Node throws the same error object to all importers of a module that failed. */
function reasonOf(cause: unknown, file: string): unknown {
  return codeOf(cause) === 'ERR_UNKNOWN_FILE_EXTENSION' ? file.slice(file.lastIndexOf('.')) : cause
}

function importProblem({ cause, files }: Failure): StartupError {
  const finding: Finding = {
    code: 'MORTAR_ROUTE_IMPORT',
    found: `cannot be imported (${summaryOf(cause)})`,
    remedy:
      codeOf(cause) === 'ERR_UNKNOWN_FILE_EXTENSION'
        ? 'Start Node with a loader for these files (node --import tsx), or build the application first.'
        : 'Fix the module; the cause of this error names the line.',
    cause,
  }
  return diagnostic(files, finding)
}

/** Returns the first line of an error, and the second if the first is only a heading, as in esbuild's errors. */
function summaryOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const [first = '', second = ''] = cause.message.split('\n')
  return `${cause.name}: ${first.endsWith(':') ? `${first} ${second}` : first}`
}

function codeOf(cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : undefined
}
