import type * as Jose from 'jose'
import { importPeer, type PeerNeed } from '../../../src/index.ts'

/** The packages of `hostedAuth`. */
export const hostedNeed: PeerNeed = {
  of: "the brick 'auth'",
  peers: { from: import.meta.url, packages: ['jose'] },
}

let loading: Promise<typeof Jose> | undefined

/** Loads jose once. It is an ES module, so that it cannot be required on every version of Node. */
export function loadJose(): Promise<typeof Jose> {
  return (loading ??= importPeer(() => import('jose'), hostedNeed))
}
