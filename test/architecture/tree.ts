import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, posix, relative, sep } from 'node:path'
import { type Import, isBarrel, readImports } from './read-imports.ts'

/** A source file: its path from the root of the repository, what it imports, and whether it only re-exports. */
export interface SourceFile {
  readonly path: string
  readonly imports: readonly Import[]
  readonly barrel: boolean
}

/** Source files, and the packages that they belong to. */
export interface Tree {
  readonly files: readonly SourceFile[]
  readonly packages: readonly Package[]
  /** Source paths of the public entries. */
  readonly entries: ReadonlySet<string>
  /** Specifiers of the public entries: `mortar`, `@mortar/mail`. */
  readonly publicNames: ReadonlySet<string>
}

/** A package of the repository: its folder and its package.json. */
export interface Package {
  readonly folder: string
  readonly manifest: Manifest
}

/** The part of package.json that the rules look at. */
export interface Manifest {
  readonly name: string
  readonly version?: string
  readonly exports: Readonly<Record<string, string | { readonly source: string }>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  /** The recipes for `mortar add`. */
  readonly mortar: object
}

export const ROOT = join(import.meta.dirname, '../..')

/** Makes a tree from sources by path. */
export function treeOf(sources: Readonly<Record<string, string>>, packages: readonly Package[]): Tree {
  const entries = packages.flatMap(entriesOf)
  return {
    files: Object.entries(sources).map(([path, source]) => ({
      path,
      imports: readImports(source),
      barrel: isBarrel(source),
    })),
    packages,
    entries: new Set(entries.map(({ source }) => source)),
    publicNames: new Set(entries.map(({ specifier }) => specifier)),
  }
}

/** A public entry: how it is imported, and its source. */
export interface Entry {
  readonly specifier: string
  readonly source: string
}

/** The public entries of a package. */
export function entriesOf({ folder, manifest }: Package): Entry[] {
  return Object.entries(manifest.exports).flatMap(([name, target]) =>
    typeof target === 'string'
      ? []
      : [{ specifier: posix.join(manifest.name, name), source: posix.join(folder, target.source) }],
  )
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

/** The packages of the repository, the core first. */
export function readPackages(): Package[] {
  const bricks = readdirSync(join(ROOT, 'plugins')).map((name) => `plugins/${name}`)
  return ['src', ...bricks].map((folder) => ({
    folder,
    manifest: JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Manifest,
  }))
}

/** The path that a relative specifier names, or undefined for a package. */
export function resolveImport(from: string, specifier: string): string | undefined {
  return specifier.startsWith('.') ? posix.join(dirname(from), specifier) : undefined
}

/** The package of a specifier: `@mortar/auth` of `@mortar/auth/basic`. */
export function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
