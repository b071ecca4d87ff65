import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { StartupError } from '../errors/startup-error.ts'
import { findManifest, type PeerManifest } from './find-manifest.ts'
import { resolvePeer } from './find-problems.ts'
import { installCommand } from './package-manager.ts'
import { brickOf, type PeerNeed } from './peers.ts'
import { satisfies } from './satisfies.ts'

/**
 * Compares the package of a brick with this framework: it must be made for this version, and import this very copy. A brick
 * that is part of an application, or of a bundle, has no package of its own.
 */
export function releaseError({ of, peers }: PeerNeed): StartupError | undefined {
  const own = findManifest(import.meta.filename)
  const theirs = findManifest(fileURLToPath(peers.from))
  const range = theirs?.peerDependencies?.['mortar']
  if (own?.name !== 'mortar' || own.version === undefined || theirs === undefined || range === undefined)
    return undefined
  const named = `${nameOf(theirs)} (${of})`
  if (!satisfies(own.version, range))
    return mismatch(`${named} is made for mortar ${range}, and this is mortar ${own.version}`, {
      remedy: theirs.name!.startsWith('@mortar/')
        ? `Run ${installCommand([{ name: theirs.name!, range: own.version }])}`
        : `Install a version of ${theirs.name} for mortar ${own.version}, or run ${installCommand([{ name: 'mortar', range }])}`,
      ...brickOf([of]),
    })
  const other = copySeenBy(peers.from)
  if (other === undefined || other.folder === own.folder) return undefined
  return mismatch(
    `${named} imports ${nameOf(other)} in ${other.folder}, and the application imports ${nameOf(own)} in ${own.folder}`,
    {
      remedy: 'Run npm dedupe, so that there is one copy; npm ls mortar shows who installs the other',
      ...brickOf([of]),
    },
  )
}

/** The copy of the framework that an import of a module finds. */
function copySeenBy(from: string): PeerManifest | undefined {
  const file = resolvePeer('mortar', createRequire(from))
  return file ? findManifest(file, 'mortar') : undefined
}

function nameOf({ name, version }: PeerManifest): string {
  return `${name} ${version}`
}

function mismatch(
  found: string,
  options: { readonly remedy: string; readonly brick?: string },
): StartupError {
  return new StartupError(`${found}.`, { code: 'MORTAR_PEER_VERSION', ...options })
}
