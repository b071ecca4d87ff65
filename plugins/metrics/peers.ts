import type * as PromClient from 'prom-client'
import { loadPeer, type PeerNeed } from '../../src/index.ts'

/** The package of the metrics brick. */
export const metricsNeed: PeerNeed = {
  of: "the brick 'metrics'",
  peers: { from: import.meta.url, packages: ['prom-client'] },
}

/** Loads prom-client, when the application is made. */
export const loadPromClient = (): typeof PromClient => loadPeer('prom-client', metricsNeed)
