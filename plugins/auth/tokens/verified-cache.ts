import type { Clock } from '../../../src/index.ts'

/** A bounded cache of values by key, each with an expiry. */
export interface VerifiedCache<Value> {
  /** @returns the value unless it has expired. */
  get(key: string): Value | undefined
  /** Stores a value until `end`, in milliseconds since the epoch. */
  set(key: string, value: Value, end: number): void
  readonly size: number
}

/** Interval for removing expired entries. */
const SWEEP_EVERY = 60_000
/** A full cache admits one of this many new keys. */
const ADMITS_ONE_OF = 8

/**
 * Creates a cache that removes expired entries once a minute while it is used. A full cache replaces its oldest entry by
 * one of eight new keys: admitting every new key would evict each entry before its next use when keys cycle.
 */
export function createVerifiedCache<Value>(capacity: number, clock: Clock): VerifiedCache<Value> {
  const entries = new Map<string, { value: Value; end: number }>()
  // One iterator for the cache's life: a new one would have to skip every entry that was removed from the front.
  let inOrder = entries.keys()
  let sweepAt = 0
  let refused = 0

  function sweep(now: number): void {
    if (now < sweepAt && sweepAt - now <= SWEEP_EVERY) return
    sweepAt = now + SWEEP_EVERY
    for (const [key, { end }] of entries) if (end <= now) entries.delete(key)
  }

  function makeRoom(): boolean {
    if (capacity === 0 || ++refused % ADMITS_ONE_OF !== 0) return false
    dropOldest()
    return true
  }

  function dropOldest(): void {
    let oldest = inOrder.next()
    if (oldest.done === true) oldest = (inOrder = entries.keys()).next()
    if (oldest.done !== true) entries.delete(oldest.value)
  }

  return {
    get(key) {
      const now = clock.now()
      sweep(now)
      const entry = entries.get(key)
      if (entry === undefined || entry.end > now) return entry?.value
      entries.delete(key)
      return undefined
    },
    set(key, value, end) {
      if (entries.size >= capacity && !makeRoom()) return
      entries.set(key, { value, end })
    },
    get size() {
      return entries.size
    },
  }
}
