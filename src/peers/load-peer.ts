import { createRequire } from 'node:module'
import { resolvePeer, firstLine, isNotFound } from './find-problems.ts'
import { nativeError, peerError } from './peer-errors.ts'
import type { PeerNeed } from './peers.ts'

/*
 * A static import of a package that is not installed fails before any code of ours runs, with a message of Node's. So a
 * package that an application may lack is required here, and a stand-in takes its place. Only the use of the stand-in
 * throws: the module graph loads, and the start names the missing packages of all bricks together.
 */

/**
 * Loads a CommonJS package that an application may not have installed.
 * @returns the package, or a stand-in of which every call and every `new` throws the StartupError of `checkPeers`.
 */
export function loadPeer<T>(name: string, need: PeerNeed): T {
  const require = createRequire(need.peers.from)
  try {
    return require(name) as T
  } catch (error) {
    const isMissing = resolvePeer(name, require) === null
    const fail = (): never => {
      throw (
        (isMissing ? peerError([need]) : undefined) ??
        nativeError(name, { of: need.of, reason: firstLine(error) })
      )
    }
    return standIn(fail) as T
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

/** A class can extend a stand-in, and `instanceof` is false for all values. */
function standIn(fail: () => never): unknown {
  const target = function (): void {}
  return new Proxy(target, {
    get: (own, key) =>
      key === 'prototype' ? (own.prototype as object) : typeof key === 'symbol' ? undefined : standIn(fail),
    apply: fail,
    construct: fail,
  })
}
