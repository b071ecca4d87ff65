import type { koaBody as KoaBody } from 'koa-body'
import { importPeer } from '../../peers/load-peer.ts'
import type { PeerNeed } from '../../peers/peers.ts'

/** The packages of a route that reads forms. */
export const formNeed: PeerNeed = {
  of: 'a route that reads multipart forms',
  peers: { from: import.meta.url, packages: ['koa-body'] },
}

let loading: Promise<typeof KoaBody> | undefined

/**
 * Loads koa-body once. Its evaluation blocks the process for some tenths of a second. An application with a route that
 * reads forms therefore loads it at its start; others never load it.
 * @throws StartupError `MORTAR_PEER_MISSING` without koa-body.
 */
export function loadFormParser(): Promise<typeof KoaBody> {
  return (loading ??= importPeer(() => import('koa-body'), formNeed).then(({ koaBody }) => koaBody))
}
