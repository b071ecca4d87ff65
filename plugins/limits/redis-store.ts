import { createRequire } from 'node:module'
import type * as RateLimiterFlexible from 'rate-limiter-flexible'
import { flexibleStore, UNLIMITED_POINTS } from 'mortar/kit'
import type { RedisClient } from './options.ts'
import type { SharedStore } from './shared-store.ts'

const require = createRequire(import.meta.url)

/** Counters in Redis. Each count is one script, and its key expires with its window. */
export function createRedisStore(client: RedisClient): SharedStore {
  // Its 36 modules are loaded for limits in Redis only.
  const { RateLimiterRedis } = require('rate-limiter-flexible') as typeof RateLimiterFlexible
  const limiter = new RateLimiterRedis({
    storeClient: client,
    points: UNLIMITED_POINTS,
    duration: 1,
    keyPrefix: 'mortar:limits',
  })
  return {
    ...flexibleStore(limiter, { isReady: () => client.status === 'ready' }),
    async read(key) {
      const found = await limiter.get(key)
      if (found === null) return undefined
      return { consumed: found.consumedPoints, resetIn: Math.max(0, found.msBeforeNext) }
    },
  }
}
