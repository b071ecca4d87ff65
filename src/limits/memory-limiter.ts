import { createHash } from 'node:crypto'
import type { Clock } from '../contracts/clock.ts'
import type { Limit, Limiter, LimitCount, LimitRule } from '../contracts/limiter.ts'
import { MemoryCounter } from './memory-counter.ts'
import { parseLimit } from './parse-limit.ts'

/** Settings of `createMemoryLimiter`. */
export interface MemoryLimiterSettings {
  readonly clock: Clock
  /** Maximum keys per limit with a counter of their own; 50,000 by default. */
  readonly capacity?: number
  readonly rules?: Readonly<Record<string, LimitRule>>
}

/** A limiter whose results are immediate. */
export interface MemoryLimiter extends Limiter {
  consume(key: string, limit: Limit): LimitCount
  clear(key: string, limit: Limit): void
  giveBack(key: string, limit: Limit): void
}

/** Most different limits. An application has a few; more would be made from input and fill the memory. */
const MOST_COUNTERS = 256
const LONGEST_KEY = 128

/** Creates a limiter that counts in the memory of this process, which is bounded. */
export function createMemoryLimiter({ clock, capacity, rules = {} }: MemoryLimiterSettings): MemoryLimiter {
  const counters = new Map<string, MemoryCounter>()

  function counterOf(given: Limit): MemoryCounter {
    const { limit, window } = parseLimit(given)
    const name = `${limit}/${window}`
    const known = counters.get(name)
    if (known !== undefined) return known
    if (counters.size >= MOST_COUNTERS) counters.delete(counters.keys().next().value!)
    const own = { points: limit, duration: window, clock }
    const counter = new MemoryCounter(capacity === undefined ? own : { ...own, capacity })
    counters.set(name, counter)
    return counter
  }

  return {
    isShared: false,
    rules,
    consume: (key, limit) => counterOf(limit).count(shortKey(key)),
    clear: (key, limit) => counterOf(limit).clear(shortKey(key)),
    giveBack: (key, limit) => counterOf(limit).giveBack(shortKey(key)),
  }
}

/** A key may come from a request and have any length. */
function shortKey(key: string): string {
  return key.length <= LONGEST_KEY ? key : createHash('sha256').update(key).digest('base64url')
}
