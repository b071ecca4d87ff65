import type * as IoRedis from 'ioredis'
import { loadPeer, type PeerNeed } from '../../src/index.ts'

/** The package of the redis brick. */
export const redisNeed: PeerNeed = {
  of: "the brick 'redis'",
  peers: { from: import.meta.url, packages: ['ioredis'] },
}

/** ioredis has more than 100 modules, so only an application that makes a client loads it. */
export const loadIoRedis = (): typeof IoRedis => loadPeer('ioredis', redisNeed)
