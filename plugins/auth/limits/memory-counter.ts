/*
 * rate-limiter-flexible's memory store keeps a timer per key and as many keys as an attacker invents, and its timers
 * fire immediately beyond 2^31 ms. This counter has bounded memory, no timers and the application's clock. When active
 * windows fill the memory, new keys share a count-min sketch: a key may then be limited too early, with a low
 * probability, and no count is ever lost. Tested by test/plugins/auth/limits/memory-counter.test.ts.
 */
import type { RateLimiterRes } from 'rate-limiter-flexible'
import type { Clock } from '../../../src/index.ts'
import { CountMinSketch } from './count-min-sketch.ts'
import { rateLimiters } from '../password-peers.ts'

const DEFAULT_CAPACITY = 50_000

/** Settings of a `MemoryCounter`. */
export interface MemoryCounterOptions {
  readonly points: number
  /** Seconds. */
  readonly duration: number
  readonly clock: Clock
  readonly keyPrefix?: string
  /** Maximum keys with a counter of their own. */
  readonly capacity?: number
}

interface Window {
  consumed: number
  /** Milliseconds since the epoch. */
  readonly end: number
}

/**
 * A limiter in memory with the interface of rate-limiter-flexible: fixed windows, each begun by its first consumption.
 */
export class MemoryCounter extends rateLimiters.RateLimiterCompatibleAbstract {
  override readonly keyPrefix: string
  override blockDuration = 0
  override execEvenly = false
  readonly #points: number
  readonly #duration: number
  readonly #clock: Clock
  readonly #capacity: number
  readonly #own = new Map<string, Window>()
  readonly #sketch: CountMinSketch
  /** End of the sketch's window. */
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

  /** Number of keys with their own window. */
  get size(): number {
    return this.#own.size
  }

  /** Bytes of the shared sketch. */
  get sharedBytes(): number {
    return this.#sketch.bytes
  }

  /** Rejects with a `RateLimiterRes` (not an Error) when the points are used up. */
  override async consume(key: string | number, points = 1): Promise<RateLimiterRes> {
    const result = this.#add(String(key), points)
    // oxlint-disable-next-line typescript/only-throw-error -- the library's refusal; an Error would mean a failure
    if (result.consumedPoints > this.#points) throw result
    return result
  }

  override async penalty(key: string | number, points = 1): Promise<RateLimiterRes> {
    return this.#add(String(key), points)
  }

  /** Subtracts points of a key with its own window. The shared sketch only counts upwards. */
  override async reward(key: string | number, points = 1): Promise<RateLimiterRes> {
    const window = this.#find(String(key))
    if (window) window.consumed = Math.max(0, window.consumed - points)
    return this.#result(window ?? this.#shared(String(key)))
  }

  override async get(key: string | number): Promise<RateLimiterRes | null> {
    const window = this.#find(String(key)) ?? this.#shared(String(key))
    return window.consumed === 0 ? null : this.#result(window)
  }

  /** Sets the consumed points and begins a new window. In the sketch it can only add points. */
  override async set(key: string | number, points: number, duration: number): Promise<RateLimiterRes> {
    this.#own.delete(String(key))
    const { consumed } = this.#shared(String(key))
    return this.#add(String(key), Math.max(0, points - consumed), duration)
  }

  override block(key: string | number, duration: number): Promise<RateLimiterRes> {
    return this.set(key, this.#points + 1, duration)
  }

  /** Removes a key. The sketch also counts other keys and does not change. */
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

  /** @returns null if the memory is full, or if the sketch already counts this key and must continue. */
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

  /** Windows have the same length, so they are in the order of their end: stops at the first active one. */
  #dropExpired(): void {
    const now = this.#clock.now()
    for (const [key, { end }] of this.#own) {
      if (end > now) break
      this.#own.delete(key)
    }
  }

  #result({ consumed, end }: Window): RateLimiterRes {
    return new rateLimiters.RateLimiterRes(
      Math.max(0, this.#points - consumed),
      end - this.#clock.now(),
      consumed,
      consumed === 1,
    )
  }
}
