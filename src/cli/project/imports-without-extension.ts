import { dirname, resolve } from 'node:path'
import { shownPath } from '../../support/shown-path.ts'
import { modulesOf, readImports } from './imports-of.ts'
import { isFile, type Project } from './project.ts'

/** Most imports that a warning names. */
const MOST = 3

/**
 * Describes the relative imports without a file extension. tsx finds their files, so that `mortar dev` runs; Node does
 * not, so that the build would fail.
 * @returns undefined if every import has one.
 */
export function describeImportsWithoutExtension(project: Project): string | undefined {
  const found = modulesOf(project).flatMap((importer) =>
    readImports(importer).flatMap(({ specifier }) => {
      const complete = specifier.startsWith('.') ? completed(importer, specifier) : undefined
      return complete === undefined
        ? []
        : [`${shownPath(importer)} imports '${specifier}': write '${complete}'`]
    }),
  )
  if (found.length === 0) return undefined
  const rest = found.length - MOST
  return `${found.slice(0, MOST).join('; ')}${rest > 0 ? `; ${rest} more` : ''}`
}

/** Returns the specifier with the extension; undefined if the file exists as it is written, or does not exist at all. */
function completed(importer: string, specifier: string): string | undefined {
  const path = resolve(dirname(importer), specifier)
  if (isFile(path) || isFile(path.replace(/\.(m?)js$/, '.$1ts'))) return undefined
  const plain = specifier.replace(/\/$/, '')
  const ending = ['.ts', '.mts', '.js', '/index.ts', '/index.js'].find((each) =>
    isFile(resolve(dirname(importer), plain + each)),
  )
  return ending === undefined ? undefined : plain + ending
}
