import { hash } from 'node:crypto'
import type { Limit, Limiter, LimitCount } from '../contracts/limiter.ts'
import { BatchedCounts } from './batched-counts.ts'
import type { Counted, LimitStore } from './limit-store.ts'
import { createMemoryLimiter, type MemoryLimiterSettings } from './memory-limiter.ts'
import { parseLimit, type ParsedLimit } from './parse-limit.ts'
import { isPausing } from '../support/pause.ts'
import { SilenceWatch } from './silence-watch.ts'

/** Settings of `createSharedLimiter`. */
export interface SharedLimiterSettings extends MemoryLimiterSettings {
  readonly store: LimitStore
  /** Called once with the error when the store begins to fail, and once without it when the store works again. */
  readonly onChange?: (error?: unknown) => void
  /** Milliseconds after which a silent store counts as down; 1,000 by default. */
  readonly patience?: number
}

/** A limiter whose results are promises. */
export interface SharedLimiter extends Limiter {
  consume(key: string, limit: Limit): Promise<LimitCount>
  clear(key: string, limit: Limit): Promise<void>
  giveBack(key: string, limit: Limit): Promise<void>
}

const PATIENCE = 1000
/** Pause in milliseconds after a failure, so that not every request waits for the store. */
const REST = 5000

/**
 * Creates a limiter that counts in a store of all processes. While the store fails or is silent, it counts in memory
 * with the same limits and tries the store again after five seconds, with one request at a time. It never rejects.
 */
export function createSharedLimiter(options: SharedLimiterSettings): SharedLimiter {
  const { store, clock, capacity, rules = {} } = options
  const memory = createMemoryLimiter({ clock, ...(capacity !== undefined && { capacity }) })
  const silence = new SilenceWatch(options.patience ?? PATIENCE)
  const attempt = withFallback(options)
  const batches = new BatchedCounts((counts) => silence.watch(store.count(counts)))

  return {
    isShared: true,
    rules,
    consume(key, given) {
      const limit = parseLimit(given)
      return attempt(
        async () => toCount(await batches.count(storedKey(key, limit), limit.window), limit),
        () => memory.consume(key, given),
      )
    },
    async clear(key, given) {
      memory.clear(key, given)
      // A key that the store cannot reset now stays counted until its window ends.
      await attempt(
        async () => void (await silence.watch(store.clear(storedKey(key, parseLimit(given))))),
        () => undefined,
      )
    },
    giveBack(key, given: Limit) {
      const limit = parseLimit(given)
      return attempt(
        async () => void (await silence.watch(store.giveBack(storedKey(key, limit), limit.window))),
        () => memory.giveBack(key, given),
      )
    },
  }
}

type Attempt = <T>(ask: () => Promise<T>, otherwise: () => T) => Promise<T>

/** Returns a function that asks the store, or memory while the store fails. */
function withFallback({ store, clock, onChange = () => undefined }: SharedLimiterSettings): Attempt {
  let isDown = false
  let restUntil = -Infinity

  function fail(error: unknown): void {
    restUntil = clock.now() + REST
    if (isDown) return
    isDown = true
    store.reset?.()
    onChange(error)
  }

  return async (ask, otherwise) => {
    if (isPausing(restUntil, clock.now(), REST)) return otherwise()
    // Only this request waits for a store that was down; the others count in memory meanwhile.
    if (isDown) restUntil = clock.now() + REST
    try {
      // A client without a connection would queue the command until it reconnects.
      if (!store.isReady()) throw new Error('The store is not connected.')
      const result = await ask()
      if (isDown) {
        isDown = false
        restUntil = -Infinity
        onChange()
      }
      return result
    } catch (error) {
      fail(error)
      return otherwise()
    }
  }
}

/**
 * Returns the key under which a store counts: a hash, because a key may be an address or an API key, and stores compare
 * and limit strings differently.
 */
export function storedKey(key: string, { limit, window }: ParsedLimit): string {
  return hash('sha256', `${limit}/${window}/${key}`)
}

function toCount({ consumed, resetIn }: Counted, { limit }: ParsedLimit): LimitCount {
  return { allowed: consumed <= limit, remaining: Math.min(limit, Math.max(0, limit - consumed)), resetIn }
}
