import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { readManifest } from '../project/project.ts'

/** File in the output of a build that describes the build. */
export const RECORD = '.framework/build.json'

/** Folder in the output for the packages of a workspace, which no registry has. */
export const LOCAL_PACKAGES = '.framework/packages/'

/** Entry modules and source hash of a build; paths are relative to its output. */
export interface BuildRecord {
  readonly app: string
  readonly server?: string
  readonly routes?: string
  /** The compiled files. Others may be added to the output later. */
  readonly files: readonly string[]
  /** SHA-256 over the names and contents of the compiled sources. */
  readonly sources: string
  /** Version of package.json and the beginning of `sources`: `1.2.0+3f1c0a9b`. */
  readonly version?: string
}

/** Returns the version of a build. Each build of other sources has another one. */
export function versionOf(root: string, sources: string): string {
  const { version = '0.0.0' } = readManifest(root) as { readonly version?: string }
  return `${version}+${sources.slice(0, 8)}`
}

/** Returns the record of an output folder, or undefined if no build made that folder. */
export function readRecord(out: string): BuildRecord | undefined {
  const file = join(out, RECORD)
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return undefined
  return JSON.parse(readFileSync(file, 'utf8')) as BuildRecord
}

/** Tells whether the sources of a build have changed since, or one of them was deleted. */
export async function isOlder({ files = [], sources }: Partial<BuildRecord>, root: string): Promise<boolean> {
  return (await hashSources(files, root)) !== sources
}

/** Hashes the sources that files were compiled from. */
export async function hashSources(files: readonly string[], root: string): Promise<string> {
  const hash = createHash('sha256')
  for (const file of files) {
    const source = join(root, file.replace(/\.([cm]?)js$/, '.$1ts'))
    const content = existsSync(source) ? await readFile(source) : undefined
    hash.update(`${file}\0${content?.length ?? 'gone'}\0`).update(content ?? '')
  }
  return hash.digest('hex')
}

/** Lists compiled files in code-unit order, so that the hash is the same on every machine. */
export async function compiledFiles(out: string): Promise<string[]> {
  const entries = await readdir(out, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && /\.[cm]?js$/.test(entry.name))
    .map((entry) => relative(out, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((file) => !file.startsWith('node_modules/') && !file.startsWith(LOCAL_PACKAGES))
    .toSorted()
}
