import type { ParsedLimit } from './parse-limit.ts'

/** Requests of a key in its current window; `resetIn` in milliseconds. */
export interface Counted {
  readonly consumed: number
  readonly resetIn: number
}

/** Counters that several processes share. Each method may reject, and may never settle. */
export interface LimitStore {
  /** True if a command can be sent now; otherwise the limits count in memory immediately. */
  isReady(): boolean
  /** Counts requests in one atomic step. */
  consume(key: string, limit: ParsedLimit, requests: number): Promise<Counted>
  clear(key: string): Promise<unknown>
  giveBack(key: string, limit: ParsedLimit): Promise<unknown>
  /** Called after a failure or a silence, so that the store can close a dead connection. */
  reset?(): void
}

/** The used part of a limiter of rate-limiter-flexible. */
export interface FlexibleLimiter {
  consume(key: string, points: number, options: { customDuration: number }): Promise<FlexibleResult>
  reward(key: string, points: number, options: { customDuration: number }): Promise<unknown>
  delete(key: string): Promise<unknown>
}

interface FlexibleResult {
  readonly consumedPoints: number
  readonly msBeforeNext: number
}

/** Points of a limiter for `flexibleStore`, which compares the count with each limit itself. */
export const UNLIMITED_POINTS = Number.MAX_SAFE_INTEGER

/** Makes a store from a limiter of rate-limiter-flexible with `points: UNLIMITED_POINTS`. */
export function flexibleStore(
  limiter: FlexibleLimiter,
  { isReady, reset }: Pick<LimitStore, 'isReady' | 'reset'>,
): LimitStore {
  return {
    isReady,
    ...(reset && { reset }),
    async consume(key, { window }, requests) {
      const result = await limiter.consume(key, requests, { customDuration: window })
      return { consumed: result.consumedPoints, resetIn: Math.max(0, result.msBeforeNext) }
    },
    clear: (key) => limiter.delete(key),
    giveBack: (key, { window }) => limiter.reward(key, 1, { customDuration: window }),
  }
}
