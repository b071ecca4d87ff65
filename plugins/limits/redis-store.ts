import { createRequire } from 'node:module'
import { setTimeout as pause } from 'node:timers/promises'
import type * as RateLimiterFlexible from 'rate-limiter-flexible'
import { flexibleStore, ignore, UNLIMITED_POINTS } from 'mortar/kit'
import type { RedisClient } from './options.ts'
import type { SharedStore } from './shared-store.ts'

const require = createRequire(import.meta.url)

/** States of a client whose first connection is not made yet. */
const BEGINNING: ReadonlySet<string> = new Set(['wait', 'connecting', 'connect'])

/**
 * Counters in Redis. Each count is one script, and its key expires with its window.
 * @param patience Milliseconds for which the start waits for a connection.
 */
export function createRedisStore(client: RedisClient, patience: number): SharedStore {
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
    /** Without a connection, the first counts would be those of this process alone. */
    async open() {
      if (client.status === 'wait') client.connect?.().catch(ignore)
      const end = performance.now() + patience
      while (BEGINNING.has(client.status) && performance.now() < end) await pause(5)
    },
    async read(key) {
      const found = await limiter.get(key)
      if (found === null) return undefined
      return { consumed: found.consumedPoints, resetIn: Math.max(0, found.msBeforeNext) }
    },
  }
}
