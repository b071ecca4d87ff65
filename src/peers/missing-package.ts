import { fileURLToPath } from 'node:url'
import { StartupError } from '../errors/startup-error.ts'
import { findManifest } from './find-manifest.ts'
import { isNotFound } from './find-problems.ts'
import { installCommand } from './package-manager.ts'

/** A package that a module of the application imports and that is not installed. */
export interface MissingPackage {
  readonly name: string
  readonly importer: string
  /** The import of the application that needs the package, where it does not import the package itself. */
  readonly through?: string
}

const MESSAGE =
  /^Cannot find (?:package|module) '([^']+)'(?: imported)?(?: from '?([^'\n]+)'?|\nRequire stack:\n- ([^\n]+))/

/** Reads the package and its importer from an error of Node's `import` or `require`; undefined for any other error. */
export function missingPackageOf(error: unknown): MissingPackage | undefined {
  if (!isNotFound(error)) return undefined
  const [, specifier = '', imported, required] = MESSAGE.exec((error as Error).message) ?? []
  const name = packageOf(specifier)
  const importer = imported ?? required
  return name === undefined || importer === undefined ? undefined : { name, importer: toPath(importer) }
}

/** The package of an import specifier; undefined for a file, a URL and a subpath import. */
export function packageOf(specifier: string): string | undefined {
  return /^(?:@[\w.-]+\/)?[\w-][\w.-]*(?=\/|$)/.exec(specifier)?.[0]
}

/** Makes one `MORTAR_PEER_MISSING` for packages that the application imports; the first importer of each is named. */
export function missingPackagesError(missing: readonly MissingPackage[], cause?: unknown): StartupError {
  const first = [...new Map(missing.toReversed().map((each) => [each.name, each])).values()].toReversed()
  const parts = first.map(({ name, importer, through }) =>
    through === undefined
      ? `${importer} imports ${name}`
      : `${importer} imports ${through}, which needs ${name}`,
  )
  return new StartupError(`Packages are not installed: ${parts.join('; ')}.`, {
    code: 'MORTAR_PEER_MISSING',
    remedy: `Run ${installCommand(first.map(({ name, importer }) => ({ name, range: rangeOf(name, importer) })))}`,
    files: first.map(({ importer }) => importer),
    ...(cause !== undefined && { cause }),
  })
}

/** The version of a brick of the same release, or what the importer or the framework wants; else undefined. */
function rangeOf(name: string, importer: string): string | undefined {
  const own = findManifest(import.meta.filename)
  if (name.startsWith('@mortar/')) return own?.version
  return findManifest(importer)?.peerDependencies?.[name] ?? own?.peerDependencies?.[name]
}

function toPath(file: string): string {
  return file.startsWith('file:') ? fileURLToPath(file) : file
}
