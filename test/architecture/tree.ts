import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, posix, relative, sep } from 'node:path'
import { type Import, isBarrel, readImports } from './read-imports.ts'

/** A source file: its path from the root of the repository, what it imports, and whether it only re-exports. */
export interface SourceFile {
  readonly path: string
  readonly imports: readonly Import[]
  readonly barrel: boolean
}

/** Source files, and the facts about them in package.json. */
export interface Tree {
  readonly files: readonly SourceFile[]
  /** Source paths of the public entries. */
  readonly entries: ReadonlySet<string>
  /** Specifiers of the public entries: `mortar`, `mortar/mail`. */
  readonly publicNames: ReadonlySet<string>
  /** Packages that are installed with the package. */
  readonly dependencies: ReadonlySet<string>
}

/** The part of package.json that the rules look at. */
export interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly source: string }>>
  /** Packages inside this one: `#awilix`. */
  readonly imports?: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

export const ROOT = join(import.meta.dirname, '../..')

/** Makes a tree from sources by path. */
export function treeOf(sources: Readonly<Record<string, string>>, manifest: Manifest): Tree {
  const entries = Object.entries(manifest.exports).flatMap(([name, target]) =>
    typeof target === 'string' ? [] : [[posix.join('mortar', name), posix.normalize(target.source)] as const],
  )
  return {
    files: Object.entries(sources).map(([path, source]) => ({
      path,
      imports: readImports(source),
      barrel: isBarrel(source),
    })),
    entries: new Set(entries.map(([, source]) => source)),
    publicNames: new Set(entries.map(([name]) => name)),
    dependencies: new Set(
      Object.keys({ ...manifest.imports, ...manifest.dependencies, ...manifest.peerDependencies }),
    ),
  }
}

/** Reads the sources under the given folders of the repository. */
export function readSources(folders: readonly string[]): Record<string, string> {
  const paths = folders.flatMap((folder) => listFiles(folder))
  return Object.fromEntries(
    paths
      .filter((path) => /\.m?[jt]s$/.test(path))
      .map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]),
  )
}

/** Paths of all files under a folder, from the root of the repository, with forward slashes, in a stable order. */
export function listFiles(folder: string): string[] {
  if (!existsSync(join(ROOT, folder))) return []
  const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return files
    .map((file) => relative(ROOT, file).split(sep).join('/'))
    .filter((path) => !/(^|\/)(node_modules|\.framework|dist|data)\//.test(path))
    .toSorted()
}

export function readManifest(): Manifest {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest
}

/** The path that a relative specifier names, or undefined for a package. */
export function resolveImport(from: string, specifier: string): string | undefined {
  return specifier.startsWith('.') ? posix.join(dirname(from), specifier) : undefined
}
