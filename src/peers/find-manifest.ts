import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The keys of a package.json that concern peers. */
export interface PeerManifest {
  /** The folder of the file. */
  readonly folder: string
  readonly name?: string
  readonly version?: string
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/**
 * Finds the package.json of the package that a file belongs to. Some packages have further ones without a name inside.
 * @param name of the package; by default the nearest package.json with any name.
 */
export function findManifest(file: string, name?: string): PeerManifest | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifest = readManifest(join(folder, 'package.json'))
    if (manifest?.name !== undefined && (name === undefined || manifest.name === name)) return manifest
    if (dirname(folder) === folder) return undefined
  }
}

/** Manifests by file. Node, too, remembers a package.json for the life of a process. */
const manifests = new Map<string, PeerManifest>()

function readManifest(file: string): PeerManifest | undefined {
  const known = manifests.get(file)
  if (known !== undefined || !existsSync(file)) return known
  try {
    const manifest = { ...(JSON.parse(readFileSync(file, 'utf8')) as PeerManifest), folder: dirname(file) }
    manifests.set(file, manifest)
    return manifest
  } catch {
    return undefined
  }
}
