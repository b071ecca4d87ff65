import { createRequire } from 'node:module'
import { resolvePeer, firstLine, isNotFound } from './find-problems.ts'
import { nativeError, peerError } from './peer-errors.ts'
import type { PeerNeed } from './peers.ts'

/**
 * Loads a CommonJS package that an application may not have installed, when it is needed.
 * @throws StartupError `MORTAR_PEER_MISSING` with every package that is missing of this need, or `MORTAR_PEER_NATIVE`.
 */
export function loadPeer<T>(name: string, need: PeerNeed): T {
  const require = createRequire(need.peers.from)
  try {
    return require(name) as T
  } catch (error) {
    const missing = resolvePeer(name, require) === null ? peerError([need]) : undefined
    throw missing ?? nativeError(name, { of: need.of, reason: firstLine(error) })
  }
}

/**
 * Waits for `import()` of a package that an application may not have installed.
 * @throws StartupError `MORTAR_PEER_MISSING` with every package that is missing of this need.
 */
export async function importPeer<T>(load: () => Promise<T>, need: PeerNeed): Promise<T> {
  try {
    return await load()
  } catch (error) {
    throw (isNotFound(error) ? peerError([need]) : undefined) ?? error
  }
}

/** True for a package that is installed, whatever its version. */
export function hasPeer(name: string, { peers }: PeerNeed): boolean {
  return resolvePeer(name, createRequire(peers.from)) !== null
}
