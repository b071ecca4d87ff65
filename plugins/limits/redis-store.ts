import { flexibleStore, UNLIMITED_POINTS } from '../../src/index.ts'
import type { RedisClient } from './options.ts'
import { loadRateLimiters } from './peers.ts'
import type { SharedStore } from './shared-store.ts'

/** Counters in Redis. Each count is one script, and its key expires with its window. */
export function createRedisStore(client: RedisClient): SharedStore {
  const { RateLimiterRedis } = loadRateLimiters()
  const limiter = new RateLimiterRedis({
    storeClient: client,
    points: UNLIMITED_POINTS,
    duration: 1,
    keyPrefix: 'mortar:limits',
  })
  return flexibleStore(limiter, { isReady: () => client.status === 'ready' })
}
