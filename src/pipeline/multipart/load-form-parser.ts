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

const preparations = new Map<string | undefined, () => Promise<unknown>>()

/** Returns the function that prepares forms at the start: it loads the parser and checks the folder, once for each. */
export function preparationOf(folder: string | undefined): () => Promise<unknown> {
  const known = preparations.get(folder)
  if (known !== undefined) return known
  const prepare = async (): Promise<void> => {
    await loadFormParser()
    const { checkUploadFolder } = await import('./check-upload-folder.ts')
    await checkUploadFolder(folder)
  }
  preparations.set(folder, prepare)
  return prepare
}
