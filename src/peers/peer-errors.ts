import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { StartupError, StartupErrors } from '../errors/startup-error.ts'
import { listWords } from '../support/list-words.ts'
import { findManifest, type PeerManifest } from './find-manifest.ts'
import { findPeerProblems, resolvePeer } from './find-problems.ts'
import { buildRemedy, installCommand, oneCopyRemedy } from './package-manager.ts'
import { brickOf, type PeerNeed, type PeerProblem } from './peers.ts'
import { satisfies } from './satisfies.ts'

type Found = PeerProblem & { readonly of: string }

/**
 * Checks the optional packages of an application together, so that one message names all of them.
 * @throws StartupError `MORTAR_PEER_MISSING`, `MORTAR_PEER_VERSION` or `MORTAR_PEER_NATIVE`, with the command to run.
 */
export function checkPeers(needs: readonly PeerNeed[]): void {
  const error = peerError(needs)
  if (error !== undefined) throw error
}

/** The error that `checkPeers` throws, if there is a problem. */
export function peerError(needs: readonly PeerNeed[]): StartupError | undefined {
  const found = needs.flatMap(({ of, peers }) =>
    findPeerProblems(peers).map((problem) => ({ of, ...problem })),
  )
  const errors = [
    ...needs.map(releaseError),
    missing(ofKind(found, 'missing')),
    ...wrongVersions(found),
    ...notBuilt(found),
  ]
  const present = errors.filter((error) => error !== undefined)
  if (present.length < 2) return present[0]
  return new StartupErrors('Packages of the application are not as they have to be:', present)
}

/**
 * Compares the package of a brick with this framework: it must be made for this version, and import this very copy. A brick
 * that is part of an application, or of a bundle, has no package of its own.
 */
function releaseError({ of, peers }: PeerNeed): StartupError | undefined {
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
      remedy: oneCopyRemedy('mortar'),
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

function missing(found: readonly Found[]): StartupError | undefined {
  if (found.length === 0) return undefined
  const owners = [...new Set(found.map(({ of }) => of))]
  const parts = owners.map((owner) => {
    const names = found.filter(({ of }) => of === owner).map(({ name }) => name)
    return `${owner} needs ${listWords(names, names.length)}`
  })
  return new StartupError(`Packages are not installed: ${parts.join('; ')}.`, {
    code: 'MORTAR_PEER_MISSING',
    remedy: `Run ${installCommand(found)}`,
    ...brickOf(owners),
  })
}

function wrongVersions(found: readonly Found[]): StartupError[] {
  return ofKind(found, 'version').map(
    (problem) =>
      new StartupError(
        `${problem.name} ${problem.found} is installed, and ${problem.of} needs ${problem.range}.`,
        {
          code: 'MORTAR_PEER_VERSION',
          remedy: `Run ${installCommand([problem])}`,
          ...brickOf([problem.of]),
        },
      ),
  )
}

function notBuilt(found: readonly Found[]): StartupError[] {
  return ofKind(found, 'native').map(({ name, found: reason, of }) =>
    nativeError(name, { of, reason: reason! }),
  )
}

/** The error for a package that is installed without its compiled part, or with one for another version of Node. */
export function nativeError(
  name: string,
  { of, reason }: { readonly of: string; readonly reason: string },
): StartupError {
  return new StartupError(
    `${name}, which ${of} needs, is installed, but its compiled part cannot be loaded: ${reason}`,
    {
      code: 'MORTAR_PEER_NATIVE',
      remedy: buildRemedy(name),
      ...brickOf([of]),
    },
  )
}

function ofKind(found: readonly Found[], kind: PeerProblem['kind']): Found[] {
  return found.filter((problem) => problem.kind === kind)
}
