import type { Clock } from 'mortar'

/** A bounded cache of values by key, each with an expiry. */
export interface VerifiedCache<Value> {
  /** @returns the value unless it has expired. */
  get(key: string): Value | undefined
  /** Stores the value of a key that was offered before, until `end`, in milliseconds since the epoch. */
  offer(key: string, value: Value, end: number): void
  readonly size: number
}

/** Interval for removing expired entries. */
const SWEEP_EVERY = 60_000
/** A full cache admits one of this many keys. */
const ADMITS_ONE_OF = 8

/**
 * Creates a cache that removes expired entries once a minute while it is used. It stores a key the second time that it is
 * offered: entries that are never used would cost the garbage collector more than they can save. A full cache replaces
 * its oldest entry by one of eight such keys: admitting each would evict every entry before its next use when keys cycle.
 */
export function createVerifiedCache<Value>(capacity: number, clock: Clock): VerifiedCache<Value> {
  const entries = new Map<string, { value: Value; end: number }>()
  // One iterator for the cache's life: a new one would have to skip every entry that was removed from the front. It never
  // ends, because all entries before it are deleted, and it is asked of a full cache only.
  const inOrder = entries.keys()
  let sweepAt = 0
  let refused = 0
  const wasOffered = createMemory(capacity)

  function sweep(now: number): void {
    if (now < sweepAt && sweepAt - now <= SWEEP_EVERY) return
    sweepAt = now + SWEEP_EVERY
    for (const [key, { end }] of entries) if (end <= now) entries.delete(key)
  }

  function makeRoom(): boolean {
    return ++refused % ADMITS_ONE_OF === 0 && entries.delete(inOrder.next().value!)
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
    offer(key, value, end) {
      if (capacity === 0 || !wasOffered(key) || (entries.size >= capacity && !makeRoom())) return
      entries.set(key, { value, end })
    },
    get size() {
      return entries.size
    },
  }
}

/** Creates a function that is true for a key among the last `size` others, and for at most twice as many. */
function createMemory(size: number): (key: string) => boolean {
  let recent = new Set<number>()
  let earlier = recent
  return (key) => {
    const mark = markOf(key)
    if (recent.has(mark) || earlier.has(mark)) return true
    if (recent.size >= size) [earlier, recent] = [recent, new Set()]
    recent.add(mark)
    return false
  }
}

const MARKED = 8

/** A number for the end of a key. Two keys with one number are harmless: the second is stored early. */
function markOf(key: string): number {
  let mark = 0
  for (let index = Math.max(0, key.length - MARKED); index < key.length; index++)
    mark = (Math.imul(mark, 67) + key.charCodeAt(index)) & 0x3fff_ffff
  return mark
}
