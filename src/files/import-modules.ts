import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { StartupError } from '../errors/startup-error.ts'
import { diagnostic, type Finding } from './diagnostics.ts'
import type { ModuleExports } from './read-module.ts'

/** Imports the module at a `file:` URL. A reload gives one that adds a query, so that the module is evaluated again. */
export type ImportModule = (url: string) => Promise<ModuleExports>

/** The modules that could be imported, by relative file, and a problem for each reason why others could not. */
export interface ImportedModules {
  readonly modules: ReadonlyMap<string, ModuleExports>
  readonly problems: readonly StartupError[]
}

/**
 * Imports files of a directory one after the other, in the given order, so that modules which do something when they
 * are imported do it in the same order everywhere. Files that fail for one and the same reason share one problem.
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
  return { modules, problems: [...failures.values()].map((failure) => importProblem(failure)) }
}

function importNative(url: string): Promise<ModuleExports> {
  return import(url) as Promise<ModuleExports>
}

/** The same for files that fail together: Node throws one error object to all importers of a module that threw. */
function reasonOf(cause: unknown, file: string): unknown {
  return codeOf(cause) === 'ERR_UNKNOWN_FILE_EXTENSION' ? file.slice(file.lastIndexOf('.')) : cause
}

function importProblem({ cause, files }: { cause: unknown; files: readonly string[] }): StartupError {
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

/** The first line of an error, and the second when the first only announces it, as esbuild's does. */
function summaryOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const [first = '', second = ''] = cause.message.split('\n')
  return `${cause.name}: ${first.endsWith(':') ? `${first} ${second}` : first}`
}

function codeOf(cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : undefined
}
