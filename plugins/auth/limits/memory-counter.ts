/*
 * rate-limiter-flexible's own memory store keeps a timer for each key and as many keys as an attacker invents, and its
 * timers fire immediately beyond 2^31 ms. This counter has fixed room, no timers and the application's clock. When
 * running windows fill the room, new keys share a count-min sketch: a key may then be limited too early, with a
 * probability that its size keeps low, and no counter is ever forgotten. Tested by
 * test/plugins/auth/limits/memory-counter.test.ts.
 */
import { RateLimiterCompatibleAbstract, RateLimiterRes } from 'rate-limiter-flexible'
import type { Clock } from '../../../src/index.ts'
import { CountMinSketch } from './count-min-sketch.ts'

const DEFAULT_CAPACITY = 50_000

/** Settings of a `MemoryCounter`. */
export interface MemoryCounterOptions {
  readonly points: number
  /** Seconds. */
  readonly duration: number
  readonly clock: Clock
  readonly keyPrefix?: string
  /** Keys that are counted each on its own. */
  readonly capacity?: number
}

interface Window {
  consumed: number
  /** Milliseconds since the epoch. */
  readonly end: number
}

/** A limiter in memory with the interface of rate-limiter-flexible: fixed windows, each begun by its first consumption. */
export class MemoryCounter extends RateLimiterCompatibleAbstract {
  override readonly keyPrefix: string
  override blockDuration = 0
  override execEvenly = false
  readonly #points: number
  readonly #duration: number
  readonly #clock: Clock
  readonly #capacity: number
  readonly #own = new Map<string, Window>()
  readonly #sketch: CountMinSketch
  /** When the window of the sketch ends. */
  #sketchEnd = -Infinity

  constructor({
    points,
    duration,
    clock,
    keyPrefix = '',
    capacity = DEFAULT_CAPACITY,
  }: MemoryCounterOptions) {
    super()
    this.keyPrefix = keyPrefix
    this.#points = points
    this.#duration = duration
    this.#clock = clock
    this.#capacity = capacity
    this.#sketch = new CountMinSketch(points + 1)
  }

  /** Keys that have a window of their own. */
  get size(): number {
    return this.#own.size
  }

  /** Bytes of what the other keys share. */
  get sharedBytes(): number {
    return this.#sketch.bytes
  }

  /** Rejects with a `RateLimiterRes`, which is no Error, when the points are used up. */
  override async consume(key: string | number, points = 1): Promise<RateLimiterRes> {
    const result = this.#add(String(key), points)
    // oxlint-disable-next-line typescript/only-throw-error -- the library's way to say no; an Error would be a fault
    if (result.consumedPoints > this.#points) throw result
    return result
  }

  override async penalty(key: string | number, points = 1): Promise<RateLimiterRes> {
    return this.#add(String(key), points)
  }

  /** Takes points back from a key that has a window of its own. What others share only counts upwards. */
  override async reward(key: string | number, points = 1): Promise<RateLimiterRes> {
    const window = this.#find(String(key))
    if (window) window.consumed = Math.max(0, window.consumed - points)
    return this.#result(window ?? this.#shared(String(key)))
  }

  override async get(key: string | number): Promise<RateLimiterRes | null> {
    const window = this.#find(String(key)) ?? this.#shared(String(key))
    return window.consumed === 0 ? null : this.#result(window)
  }

  /** Sets what is consumed and begins a new window; in the sketch it can only add to what is consumed. */
  override async set(key: string | number, points: number, duration: number): Promise<RateLimiterRes> {
    this.#own.delete(String(key))
    const { consumed } = this.#shared(String(key))
    return this.#add(String(key), Math.max(0, points - consumed), duration)
  }

  override block(key: string | number, duration: number): Promise<RateLimiterRes> {
    return this.set(key, this.#points + 1, duration)
  }

  /** Forgets a key. The sketch counts for other keys too and stays as it is. */
  override async delete(key: string | number): Promise<boolean> {
    return this.#own.delete(String(key))
  }

  #add(key: string, points: number, duration = this.#duration): RateLimiterRes {
    const own = this.#find(key) ?? this.#begin(key, duration)
    if (own === null) return this.#addShared(key, points)
    own.consumed += points
    return this.#result(own)
  }

  #find(key: string): Window | undefined {
    const window = this.#own.get(key)
    return window && window.end > this.#clock.now() ? window : undefined
  }

  /** @returns null when there is no room, or when the sketch already counts this key and must go on counting it. */
  #begin(key: string, duration: number): Window | null {
    this.#dropExpired()
    if (this.#own.size >= this.#capacity || this.#shared(key).consumed > 0) return null
    const window = { consumed: 0, end: this.#clock.now() + duration * 1000 }
    this.#own.set(key, window)
    return window
  }

  #shared(key: string): Window {
    const runs = this.#sketchEnd > this.#clock.now()
    return {
      consumed: runs ? this.#sketch.estimate(key) : 0,
      end: runs ? this.#sketchEnd : this.#clock.now(),
    }
  }

  #addShared(key: string, points: number): RateLimiterRes {
    const now = this.#clock.now()
    if (this.#sketchEnd <= now) {
      this.#sketch.clear()
      this.#sketchEnd = now + this.#duration * 1000
    }
    return this.#result({ consumed: this.#sketch.add(key, points), end: this.#sketchEnd })
  }

  /** Windows are in the order of their end, because each lasts equally long: stop at the first that still runs. */
  #dropExpired(): void {
    const now = this.#clock.now()
    for (const [key, { end }] of this.#own) {
      if (end > now) break
      this.#own.delete(key)
    }
  }

  #result({ consumed, end }: Window): RateLimiterRes {
    return new RateLimiterRes(
      Math.max(0, this.#points - consumed),
      end - this.#clock.now(),
      consumed,
      consumed === 1,
    )
  }
}
