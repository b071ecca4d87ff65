/*
 * rate-limiter-flexible's memory store keeps a timer per key and as many keys as an attacker invents, and its timers
 * fire immediately beyond 2^31 ms. This counter has bounded memory, no timers and the application's clock. When active
 * windows fill the memory, new keys share a count-min sketch: a key may then be limited too early, with a low
 * probability, and no count is ever lost. Tested by test/limits/memory-counter.test.ts.
 */
import type { Clock } from '../contracts/clock.ts'
import type { LimitCount } from '../contracts/limiter.ts'
import { isPausing } from '../support/pause.ts'
import { CountMinSketch } from './count-min-sketch.ts'

const DEFAULT_CAPACITY = 50_000

/** Settings of a `MemoryCounter`. */
export interface MemoryCounterOptions {
  readonly points: number
  /** Seconds. */
  readonly duration: number
  readonly clock: Clock
  /** Maximum keys with a counter of their own. */
  readonly capacity?: number
}

interface Window {
  consumed: number
  /** Milliseconds since the epoch. */
  readonly end: number
}

/** A limiter in memory: fixed windows, each begun by its first attempt. */
export class MemoryCounter {
  readonly #points: number
  readonly #duration: number
  readonly #clock: Clock
  readonly #capacity: number
  readonly #own = new Map<string, Window>()
  readonly #sketch: CountMinSketch
  /** End of the sketch's window. */
  #sketchEnd = -Infinity

  constructor({ points, duration, clock, capacity = DEFAULT_CAPACITY }: MemoryCounterOptions) {
    this.#points = points
    this.#duration = duration
    this.#clock = clock
    this.#capacity = capacity
    this.#sketch = new CountMinSketch(points + 1)
  }

  /** Number of keys with their own window. */
  get size(): number {
    return this.#own.size
  }

  /** Bytes of the shared sketch. */
  get sharedBytes(): number {
    return this.#sketch.bytes
  }

  /** Counts one attempt. */
  count(key: string): LimitCount {
    const own = this.#find(key) ?? this.#begin(key)
    if (own === null) return this.#countShared(key)
    own.consumed += 1
    return this.#result(own)
  }

  /** Subtracts one attempt of a key with its own window. The shared sketch only counts upwards. */
  giveBack(key: string): void {
    const window = this.#find(key)
    if (window) window.consumed = Math.max(0, window.consumed - 1)
  }

  /** Removes a key. The sketch also counts other keys and does not change. */
  clear(key: string): void {
    this.#own.delete(key)
  }

  #find(key: string): Window | undefined {
    const window = this.#own.get(key)
    return window && this.#isActive(window.end) ? window : undefined
  }

  /** @returns null if the memory is full, or if the sketch already counts this key and must continue. */
  #begin(key: string): Window | null {
    this.#dropExpired()
    if (this.#own.size >= this.#capacity || this.#isShared(key)) return null
    const window = { consumed: 0, end: this.#clock.now() + this.#duration * 1000 }
    this.#own.set(key, window)
    return window
  }

  #isShared(key: string): boolean {
    return this.#isActive(this.#sketchEnd) && this.#sketch.estimate(key) > 0
  }

  #countShared(key: string): LimitCount {
    if (!this.#isActive(this.#sketchEnd)) {
      this.#sketch.clear()
      this.#sketchEnd = this.#clock.now() + this.#duration * 1000
    }
    return this.#result({ consumed: this.#sketch.add(key, 1), end: this.#sketchEnd })
  }

  /** Windows have the same length, so they are in the order of their end: stops at the first active one. */
  #dropExpired(): void {
    for (const [key, { end }] of this.#own) {
      if (this.#isActive(end)) break
      this.#own.delete(key)
    }
  }

  /** A window that ends in more than two lengths was begun while the clock was ahead. */
  #isActive(end: number): boolean {
    return isPausing(end, this.#clock.now(), 2000 * this.#duration)
  }

  #result({ consumed, end }: Window): LimitCount {
    return {
      allowed: consumed <= this.#points,
      remaining: Math.max(0, this.#points - consumed),
      resetIn: Math.max(0, end - this.#clock.now()),
    }
  }
}
