import type { Clock } from '../../../src/index.ts'

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
/** Of how many new keys a full cache takes one. */
const ADMITS_ONE_OF = 8

/**
 * A cache that drops all expired entries once a minute while it is used. When it is full, one new key of eight takes the
 * place of the oldest: were it each one, more keys in turn than there is room for would find nothing at all.
 */
export function createVerifiedCache<Value>(capacity: number, clock: Clock): VerifiedCache<Value> {
  const entries = new Map<string, { value: Value; end: number }>()
  // One iterator for all time, because a new one has to step over every entry that was ever dropped from the front.
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
