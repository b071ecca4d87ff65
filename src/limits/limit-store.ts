/** Requests of a key in its current window; `resetIn` in milliseconds. */
export interface Counted {
  readonly consumed: number
  readonly resetIn: number
}

/** A number of requests of a key; `window` in seconds. */
export interface KeyCount {
  readonly key: string
  readonly window: number
  readonly requests: number
}

/** Counters that several processes share. Each method may reject, and may never settle. */
export interface LimitStore {
  /** True if a command can be sent now; otherwise the limits count in memory immediately. */
  isReady(): boolean
  /** Counts requests of different keys, each key in one atomic step. The results have the order of the keys. */
  count(counts: readonly KeyCount[]): Promise<readonly Counted[]>
  clear(key: string): Promise<unknown>
  /** Subtracts one request. `window` in seconds. */
  giveBack(key: string, window: number): Promise<unknown>
  /** Called after a failure or a silence, so that the store can close a dead connection. */
  reset?(): void
}

/** The used part of a limiter of rate-limiter-flexible. */
export interface FlexibleLimiter {
  consume(key: string, points: number, options: { customDuration: number }): Promise<FlexibleResult>
  reward(key: string, points: number, options: { customDuration: number }): Promise<FlexibleResult>
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
  { isReady }: Pick<LimitStore, 'isReady'>,
): LimitStore {
  const countOne = async ({ key, window, requests }: KeyCount): Promise<Counted> => {
    const result = await limiter.consume(key, requests, { customDuration: window })
    return { consumed: result.consumedPoints, resetIn: Math.max(0, result.msBeforeNext) }
  }
  return {
    isReady,
    count: (counts) => Promise.all(counts.map(countOne)),
    clear: (key) => limiter.delete(key),
    async giveBack(key, window) {
      const { consumedPoints } = await limiter.reward(key, 1, { customDuration: window })
      // The key had no count, or has expired.
      if (consumedPoints < 0) await countOne({ key, window, requests: 1 })
    },
  }
}
