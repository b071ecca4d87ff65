import type { Clock } from '../contracts/clock.ts'
import { seconds, type Duration } from '../support/duration.ts'

/** A clock whose time changes only by its methods. */
export interface FakeClock extends Clock {
  /** Advances by seconds or a duration such as `'15m'`. */
  advance(by: Duration): void
  /** Jumps to a time in milliseconds since the epoch. */
  set(now: number): void
}

/** Makes a clock for `createApp({ clock })`; it starts at the given time, or now. */
export function createClock(start: number | Date = Date.now()): FakeClock {
  let now = Number(start)
  return {
    now: () => now,
    advance: (by) => void (now += seconds(by) * 1000),
    set: (to) => void (now = to),
  }
}
