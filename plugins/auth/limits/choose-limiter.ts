import type { RateLimiterRedis } from 'rate-limiter-flexible'
import type { Clock, EventBus, Limiter } from 'mortar'
import { createMemoryLimiter, createSharedLimiter, flexibleStore, UNLIMITED_POINTS } from 'mortar/kit'
import type { AuthEvents } from '../events/events.ts'
import { loadRateLimiters } from '../password-packages.ts'

/** The used part of an ioredis client. The application opens and closes it. */
export interface RedisClient {
  readonly status: string
  defineCommand(name: string, definition: { numberOfKeys?: number; lua: string }): void
}

/** Places in which the limits of the sign-in can be counted. */
export interface LimiterChoice {
  /** Counts for all processes together. */
  readonly redis?: RedisClient
  /** The service `limiter` of the application. */
  readonly limiter?: Limiter
  readonly clock: Clock
  /** Logs when Redis fails and when it works again. */
  readonly events?: EventBus<AuthEvents>
  /** Maximum keys per limit with their own counter in memory. */
  readonly capacity?: number
}

/** Returns the limiter that counts: in Redis if there is a client, else the service `limiter`, else in memory. */
export function chooseLimiter(choice: LimiterChoice): Limiter {
  const { redis, limiter, clock, events, capacity } = choice
  const own = { clock, ...(capacity !== undefined && { capacity }) }
  if (redis === undefined) return limiter ?? createMemoryLimiter(own)
  const isReady = (): boolean => redis.status === 'ready'
  return createSharedLimiter({
    ...own,
    store: flexibleStore(redisLimiter(redis), { isReady }),
    onChange: (error) => report(events, error),
  })
}

function redisLimiter(redis: RedisClient): RateLimiterRedis {
  const place = { storeClient: redis, keyPrefix: 'mortar:auth' }
  return new (loadRateLimiters().RateLimiterRedis)({ ...place, points: UNLIMITED_POINTS, duration: 1 })
}

/** Only the name of the error is logged: its message may contain an address. */
function report(events: EventBus<AuthEvents> | undefined, error: unknown): void {
  if (error === undefined) events?.emit('auth.limits.restored', {})
  else events?.emit('auth.limits.degraded', { error: error instanceof Error ? error.name : 'Error' })
}
