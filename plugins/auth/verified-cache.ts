import type { Clock } from '../../src/index.ts'

/** Values by key until their end, in bounded room. */
export interface VerifiedCache<Value> {
  /** @returns the value while its end has not come. */
  get(key: string): Value | undefined
  /** Keeps a value until `end`, in milliseconds since the epoch. */
  set(key: string, value: Value, end: number): void
  readonly size: number
}

/** How often expired entries are looked for. */
const SWEEP_EVERY = 60_000

/** A cache that drops the oldest entry when full, and all expired ones once a minute while it is used. */
export function createVerifiedCache<Value>(capacity: number, clock: Clock): VerifiedCache<Value> {
  const entries = new Map<string, { value: Value; end: number }>()
  // One iterator for all time, because a new one has to step over every entry that was ever dropped from the front.
  let inOrder = entries.keys()
  let sweepAt = 0

  function sweep(now: number): void {
    if (now < sweepAt && sweepAt - now <= SWEEP_EVERY) return
    sweepAt = now + SWEEP_EVERY
    for (const [key, { end }] of entries) if (end <= now) entries.delete(key)
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
      if (entries.size >= capacity) dropOldest()
      if (capacity > 0) entries.set(key, { value, end })
    },
    get size() {
      return entries.size
    },
  }
}
