import type { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { Clock } from '../../../src/index.ts'
import type { CountedLimit } from './limit-rules.ts'
import { type Count, MemoryCounter } from './memory-counter.ts'
import { loadRateLimiters } from '../password-peers.ts'

/** The used part of an ioredis client. The application opens and closes it. */
export interface RedisClient {
  readonly status: string
  defineCommand(name: string, definition: { numberOfKeys?: number; lua: string }): void
}

/** Counts the attempts of one limit, by key. Never rejects. */
export interface LimitCounter {
  readonly limit: CountedLimit
  /** Counts one attempt in one atomic step, and returns if it is within the limit. */
  count(key: string): Promise<Count>
  /** Resets the attempts of a key. */
  clear(key: string): Promise<void>
  /** Subtracts one attempt. */
  giveBack(key: string): Promise<void>
}

/** Settings of `createLimitCounter`. */
export interface LimitCounterOptions {
  readonly limit: CountedLimit
  readonly clock: Clock
  readonly capacity?: number
  readonly redis?: RedisClient
  /** Called after each Redis command, with undefined or the error. */
  readonly onRedis?: (error?: unknown) => void
  /** Milliseconds after which a silent Redis counts as down; 1,000 by default. */
  readonly patience?: number
}

const PATIENCE = 1000
/** Pause in milliseconds after a failure of Redis, so that not every request waits for it. */
const REST = 5000

/** Counts in memory, or in Redis with memory as the fallback while Redis fails, so that a limit always applies. */
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
    count: async (key) => memory.count(key),
    clear: async (key) => memory.clear(key),
    giveBack: async (key) => memory.giveBack(key),
  }
}

function sharedCounter(
  options: LimitCounterOptions,
  redis: RedisClient,
  memory: MemoryCounter,
): LimitCounter {
  const { limit, clock, onRedis = () => undefined, patience = PATIENCE } = options
  const local = localCounter(limit, memory)
  const { RLWrapperTimeouts } = loadRateLimiters()
  const shared = new RLWrapperTimeouts({
    limiter: redisLimiter(limit, redis),
    timeoutMs: patience,
  })
  let restUntil = -Infinity

  async function attempt<T>(ask: () => Promise<T>, otherwise: () => Promise<T>): Promise<T> {
    if (clock.now() < restUntil) return otherwise()
    try {
      // A client without a connection would queue the command until it reconnects.
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
      // A key that Redis cannot reset now stays counted until its window ends.
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
  return new (loadRateLimiters().RateLimiterRedis)({
    storeClient: redis,
    points: limit,
    duration: window,
    keyPrefix,
  })
}

/**
 * rate-limiter-flexible rejects with a `RateLimiterRes` when the limit is reached; any other rejection is a failure.
 */
async function countOf(consumption: Promise<RateLimiterRes>): Promise<Count> {
  const outcome = await consumption.then(
    (result) => ({ allowed: true, result }),
    (reason: unknown) => {
      if (reason instanceof loadRateLimiters().RateLimiterRes) return { allowed: false, result: reason }
      throw reason
    },
  )
  const { remainingPoints, msBeforeNext } = outcome.result
  return { allowed: outcome.allowed, remaining: remainingPoints, resetIn: Math.max(0, msBeforeNext) }
}
