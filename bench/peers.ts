import type { ServerSpec } from './servers.ts'
import { NOTE_SERVERS } from './workloads/notes.ts'
import { SERVERS, type Workload } from './workloads/workload.ts'

/** Names that `--peers` accepts. */
export const PEERS: readonly string[] = [...new Set([...SERVERS, ...NOTE_SERVERS])]

/** The part of the options that chooses servers. */
interface Choice {
  readonly peers: readonly string[] | undefined
  readonly builds: readonly { readonly name: string; readonly dist: string }[]
}

/** The servers that a workload is measured on: `raw` always, where it does this work, and other builds of Mortar last. */
export function serversOf(workload: Workload, { peers: wanted, builds }: Choice): ServerSpec[] {
  const { app, size, folder, morePeers = [], extra = [], logFields } = workload
  const able = [...new Set([...workload.peers, ...morePeers])]
  const chosen =
    wanted === undefined ? workload.peers : able.filter((peer) => peer === 'raw' || wanted.includes(peer))
  const logs = logFields === undefined ? {} : { logs: true }
  const specOf = (name: string, peer: string): ServerSpec => ({
    name,
    peer: folder === undefined ? peer : `${folder}/${peer}`,
    app,
    size,
    ...logs,
  })
  return [
    ...chosen.map((peer) => specOf(peer, peer)),
    ...extra.filter(({ peer }) => chosen.includes(peer)).map((each) => ({ ...each, size })),
    ...builds.map(({ name, dist }) => ({ ...specOf(name, 'mortar'), dist })),
  ]
}
