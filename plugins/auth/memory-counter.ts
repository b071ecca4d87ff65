/*
 * rate-limiter-flexible's own memory store keeps a timer for each key and as many keys as an attacker invents, and its
 * timers fire at once beyond 2^31 ms. This one has fixed room, no timers and the application's clock. When the room is
 * taken by windows that still run, new keys share a fixed number of places: they may be limited too early, and no
 * counter is ever forgotten. Held by test/plugins/auth/primitives/memory-counter.test.ts.
 */
import { createHash } from 'node:crypto'
import { RateLimiterCompatibleAbstract, RateLimiterRes } from 'rate-limiter-flexible'
import type { Clock } from '../../src/index.ts'

const DEFAULT_CAPACITY = 50_000
const SHARED_PLACES = 4096

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
  readonly #shared = new Map<string, Window>()

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
  }

  /** Keys and shared places that are held. */
  get size(): number {
    return this.#own.size + this.#shared.size
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

  override async reward(key: string | number, points = 1): Promise<RateLimiterRes> {
    return this.#add(String(key), -points)
  }

  override async get(key: string | number): Promise<RateLimiterRes | null> {
    const window = this.#find(String(key))
    return window ? this.#result(window) : null
  }

  /** Sets what is consumed and begins a new window; on a shared place it can only add to what others consumed. */
  override async set(key: string | number, points: number, duration: number): Promise<RateLimiterRes> {
    this.#own.delete(String(key))
    const window = this.#find(String(key)) ?? this.#begin(String(key), duration)
    window.consumed = Math.max(window.consumed, points)
    return this.#result(window)
  }

  override block(key: string | number, duration: number): Promise<RateLimiterRes> {
    return this.set(key, this.#points + 1, duration)
  }

  /** Forgets a key. A shared place counts for others too and stays as it is. */
  override async delete(key: string | number): Promise<boolean> {
    return this.#own.delete(String(key))
  }

  #add(key: string, points: number): RateLimiterRes {
    const window = this.#find(key) ?? this.#begin(key, this.#duration)
    window.consumed += points
    return this.#result(window)
  }

  #find(key: string): Window | undefined {
    const window = this.#own.get(key) ?? this.#shared.get(placeOf(key))
    return window && window.end > this.#clock.now() ? window : undefined
  }

  #begin(key: string, duration: number): Window {
    const window = { consumed: 0, end: this.#clock.now() + duration * 1000 }
    this.#dropExpired()
    this.#own.delete(key)
    if (this.#own.size < this.#capacity) this.#own.set(key, window)
    else this.#shared.set(placeOf(key), window)
    return window
  }

  /** Windows are in the order of their end, because each lasts equally long: stop at the first that still runs. */
  #dropExpired(): void {
    const now = this.#clock.now()
    for (const windows of [this.#own, this.#shared])
      for (const [key, { end }] of windows) {
        if (end > now) break
        windows.delete(key)
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

function placeOf(key: string): string {
  return String(createHash('sha256').update(key).digest().readUInt32BE() % SHARED_PLACES)
}
