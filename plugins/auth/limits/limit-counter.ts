import { RateLimiterRedis, RateLimiterRes, RLWrapperTimeouts } from 'rate-limiter-flexible'
import type { Clock } from '../../../src/index.ts'
import type { CountedLimit } from './limit-rules.ts'
import { MemoryCounter } from './memory-counter.ts'

/** An ioredis client, as far as it is used here. The application opens and closes it. */
export interface RedisClient {
  readonly status: string
  defineCommand(name: string, definition: { numberOfKeys?: number; lua: string }): void
}

/** What a count came to; times in milliseconds. */
export interface Count {
  readonly allowed: boolean
  readonly remaining: number
  readonly resetIn: number
}

/** Counts the attempts of one limit, by key. Never rejects. */
export interface LimitCounter {
  readonly limit: CountedLimit
  /** Counts one attempt in one atomic step, and says whether it is within the limit. */
  count(key: string): Promise<Count>
  /** Forgets the attempts of a key. */
  clear(key: string): Promise<void>
  /** Takes one attempt back. */
  giveBack(key: string): Promise<void>
}

/** Settings of `createLimitCounter`. */
export interface LimitCounterOptions {
  readonly limit: CountedLimit
  readonly clock: Clock
  readonly capacity?: number
  readonly redis?: RedisClient
  /** Told of each answer of Redis: undefined, or the error. */
  readonly onRedis?: (error?: unknown) => void
  /** Milliseconds after which a silent Redis counts as down; 1,000 by default. */
  readonly patience?: number
}

const PATIENCE = 1000
/** Milliseconds for which a Redis that failed is left alone, so that not every request waits for it in vain. */
const REST = 5000

/** Counts in memory; or in Redis, and in memory while Redis does not answer, so that a limit never goes away. */
export function createLimitCounter(options: LimitCounterOptions): LimitCounter {
  const { limit, clock, capacity, redis } = options
  const memory = new MemoryCounter({
    points: limit.limit,
    duration: limit.window,
    clock,
    ...(capacity !== undefined && { capacity }),
  })
  return redis ? sharedCounter(options, redis, memory) : localCounter(limit, memory)
}

function localCounter(limit: CountedLimit, memory: MemoryCounter): LimitCounter {
  return {
    limit,
    count: (key) => countOf(memory.consume(key)),
    clear: async (key) => void (await memory.delete(key)),
    giveBack: async (key) => void (await memory.reward(key)),
  }
}

function sharedCounter(
  options: LimitCounterOptions,
  redis: RedisClient,
  memory: MemoryCounter,
): LimitCounter {
  const { limit, clock, onRedis = () => undefined, patience = PATIENCE } = options
  const local = localCounter(limit, memory)
  const shared = new RLWrapperTimeouts({ limiter: redisLimiter(limit, redis), timeoutMs: patience })
  let restUntil = -Infinity

  async function attempt<T>(ask: () => Promise<T>, otherwise: () => Promise<T>): Promise<T> {
    if (clock.now() < restUntil) return otherwise()
    try {
      // A client without a connection would keep the command until it has one.
      if (redis.status !== 'ready') throw new Error('Redis is not connected.')
      const answer = await ask()
      onRedis()
      return answer
    } catch (error) {
      restUntil = clock.now() + REST
      onRedis(error)
      return otherwise()
    }
  }

  return {
    limit,
    count: (key) =>
      attempt(
        () => countOf(shared.consume(key)),
        () => local.count(key),
      ),
    async clear(key) {
      await local.clear(key)
      // What Redis cannot forget now stays counted until its window ends.
      await attempt(
        async () => void (await shared.delete(key)),
        async () => undefined,
      )
    },
    giveBack: (key) =>
      attempt(
        async () => void (await shared.reward(key)),
        () => local.giveBack(key),
      ),
  }
}

function redisLimiter({ rule, scope, limit, window }: CountedLimit, redis: RedisClient): RateLimiterRedis {
  const keyPrefix = `mortar:auth:${rule}:${scope}`
  return new RateLimiterRedis({ storeClient: redis, points: limit, duration: window, keyPrefix })
}

/** rate-limiter-flexible rejects with a `RateLimiterRes` when the limit is reached; anything else is a fault. */
async function countOf(consumption: Promise<RateLimiterRes>): Promise<Count> {
  const outcome = await consumption.then(
    (result) => ({ allowed: true, result }),
    (reason: unknown) => {
      if (reason instanceof RateLimiterRes) return { allowed: false, result: reason }
      throw reason
    },
  )
  const { remainingPoints, msBeforeNext } = outcome.result
  return { allowed: outcome.allowed, remaining: remainingPoints, resetIn: Math.max(0, msBeforeNext) }
}
