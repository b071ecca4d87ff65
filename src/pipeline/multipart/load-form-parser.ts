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
 * Loads koa-body once. Evaluating it holds up everything else for some tenths of a second, so an application with a route
 * that reads forms waits for it at its start; others never load it.
 * @throws StartupError `MORTAR_PEER_MISSING` without koa-body.
 */
export function loadFormParser(): Promise<typeof KoaBody> {
  return (loading ??= importPeer(() => import('koa-body'), formNeed).then(({ koaBody }) => koaBody))
}
