import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { StartupError } from '../errors/startup-error.ts'
import type { FailedImport } from './import-problem.ts'
import type { ModuleExports } from './read-module.ts'

/** Imports the module at a `file:` URL. */
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
  const failed: FailedImport[] = []
  for (const file of files) {
    try {
      modules.set(file, await importModule(pathToFileURL(join(directory, file)).href))
    } catch (cause) {
      failed.push({ file, cause })
    }
  }
  if (failed.length === 0) return { modules, problems: [] }
  // Only a failure needs this module.
  const { problemsOfImports } = await import('./import-problem.ts')
  return { modules, problems: problemsOfImports(failed) }
}

function importNative(url: string): Promise<ModuleExports> {
  return import(url) as Promise<ModuleExports>
}
