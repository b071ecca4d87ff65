import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { StartupError, StartupErrors } from '../../errors/startup-error.ts'
import { type MissingPackage, missingPackageOf, missingPackagesError } from '../../peers/missing-package.ts'
import { findPackageJSON } from '../doctor/find-package.ts'
import { recipeBook } from '../recipe-book.ts'
import { explainImport } from './explain-import.ts'
import { importsOf, type Modules } from './imports-of.ts'
import { findRoot } from './project.ts'

/**
 * Runs a step that imports an application. Node reports the first package that is not installed; the error of this
 * function names all that the sources import, and those of the bricks that they import.
 * @throws StartupError `MORTAR_PEER_MISSING`, or the error of the step.
 */
export async function namingMissingPackages<T>(project: Modules, step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    throw explained(error, project)
  }
}

function explained(error: unknown, project: Modules): unknown {
  const first = missingPackageOf(error)
  if (first !== undefined) return missingPackagesError([first, ...findMissing(project)], error)
  if (!(error instanceof Error)) return error
  const { code, errors } = error as Partial<StartupErrors>
  if (code === 'MORTAR_PEER_MISSING') return completed(error as StartupError, project)
  if (errors?.some((each) => each.code === 'MORTAR_PEER_MISSING') !== true) return explainImport(error)
  const all = errors.map((each) => (each.code === 'MORTAR_PEER_MISSING' ? completed(each, project) : each))
  return new StartupErrors(error.message.split('\n')[0]!, all)
}

/** The error with the packages that it does not name yet, in one command. */
function completed(error: StartupError, project: Modules): StartupError {
  const further = findMissing(project).filter(
    ({ name }) => !new RegExp(String.raw`[ ']${name}@`).test(error.remedy),
  )
  const unnamed = further.filter(({ name }) => !error.remedy.split(' ').includes(name))
  if (unnamed.length === 0) return error
  const more = missingPackagesError(unnamed)
  const detail = (text: string): string =>
    text.split('\n')[0]!.replace(/^Packages are not installed: |\.$/g, '')
  return new StartupError(`Packages are not installed: ${detail(error.message)}; ${detail(more.message)}.`, {
    code: error.code,
    remedy: `${more.remedy} ${error.remedy.replace(/^Run \w+ (?:install|add) (?!--)/, '').replace(/^Run /, '&& ')}`,
    files: [...error.files, ...more.files],
    cause: error,
  })
}

function findMissing(modules: Modules): MissingPackage[] {
  return directImports(modules).filter(
    ({ name, importer }) => findPackageJSON(name, dirname(importer)) === undefined,
  )
}

/** Finds the packages that an application imports itself. A brick brings its own, and the start checks its drivers. */
export function directImports(modules: Modules): MissingPackage[] {
  const bricks = Object.values(recipeBook().bricks)
  const aliases = readAliases(findRoot(dirname(modules.app)))
  const isAlias = (name: string): boolean =>
    aliases.includes(`"${name}`) || aliases.includes(`"${name.split('/', 1)[0]}/*`)
  return importsOf(modules)
    .map(({ package: name, importer }) => ({ name, importer }))
    .filter(({ name }) => bricks.some(({ ranges }) => Object.hasOwn(ranges, name)) || !isAlias(name))
}

/** `paths` of tsconfig.json may give a folder the name of a package. */
function readAliases(root: string): string {
  const file = join(root, 'tsconfig.json')
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}
