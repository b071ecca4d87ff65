import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type MissingPackage, missingPackageOf, missingPackagesError } from '../../peers/missing-package.ts'
import { findPackageJSON } from '../doctor/find-package.ts'
import { recipeBook } from '../recipe-book.ts'
import { importsOf, modulesIn } from './imports-of.ts'
import { findRoot, type Project } from './project.ts'

type Modules = Pick<Project, 'app' | 'server' | 'routes'>

/**
 * Runs a step that imports an application. Node reports the first package that is not installed; the error of this
 * function names all that the sources import, and those of the bricks that they import.
 * @throws StartupError `MORTAR_PEER_MISSING`, or the error of the step.
 */
export async function namingMissingPackages<T>(project: Modules, step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    const first = missingPackageOf(error)
    throw first === undefined ? error : missingPackagesError([first, ...findMissing(project)], error)
  }
}

function findMissing({ app, server, routes }: Modules): MissingPackage[] {
  const files = [
    app,
    ...(server === undefined ? [] : [server]),
    ...(routes === undefined ? [] : modulesIn(routes)),
  ]
  const imports = importsOf(files)
  const bricks = Object.values(recipeBook().bricks)
  const aliases = readAliases(findRoot(dirname(app)))
  const direct = imports.filter(
    ({ package: name }) =>
      bricks.some(({ ranges }) => Object.hasOwn(ranges, name)) || !aliases.includes(`"${name}`),
  )
  // A brick brings its packages along, and the start checks its drivers.
  return direct
    .map(({ package: name, importer }) => ({ name, importer }))
    .filter(({ name, importer }) => findPackageJSON(name, dirname(importer)) === undefined)
}

/** `paths` of tsconfig.json may give a folder the name of a package. */
function readAliases(root: string): string {
  const file = join(root, 'tsconfig.json')
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}
