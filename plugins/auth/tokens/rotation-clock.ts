/*
 * The age of a rotation distinguishes a lost response from a theft, so all processes use one clock: the database's. An
 * application with its own clock (a test) adds only the movement of that clock since its first use. So two processes
 * whose clocks differ by a minute agree, and a test that advances its clock advances the age.
 * test/plugins/auth/clocks.test.ts covers both.
 */
import type { Clock } from 'mortar'
import { systemClock } from 'mortar/kit'
import type { AuthStore } from '../accounts/auth-store.ts'

/** Dates rotations and computes their age. Times are milliseconds since the epoch. */
export interface RotationClock {
  /** Date for a rotation; undefined if the database sets it. */
  stamp(): number | undefined
  /** Current time of the clock that dates rotations. */
  now(): Promise<number>
  /** Estimate of that clock without a statement, exact to within the difference of the clocks. */
  roughly(): number
  /** Starts a stopwatch. The returned function converts `now()` to the time of the start, or slightly earlier. */
  startedAt(): (now: number) => number
}

/** Creates the rotation clock of an application with this clock and store. */
export function createRotationClock(clock: Clock, store: Pick<AuthStore, 'now'>): RotationClock {
  return clock === systemClock ? databaseClock(store) : ownClock(clock)
}

function databaseClock(store: Pick<AuthStore, 'now'>): RotationClock {
  return {
    stamp: () => undefined,
    now: () => store.now(),
    roughly: () => systemClock.now(),
    startedAt: () => {
      const start = performance.now()
      return (now) => now - (performance.now() - start)
    },
  }
}

/** Differences to the machine's clock, by clock, since several applications of one test may share a clock. */
const differences = new WeakMap<Clock, number>()

function ownClock(clock: Clock): RotationClock {
  const difference = differences.get(clock) ?? clock.now() - systemClock.now()
  differences.set(clock, difference)
  const read = (): number => Math.round(clock.now() - difference)
  return {
    stamp: read,
    now: async () => read(),
    roughly: read,
    startedAt: () => {
      const start = read()
      return () => start
    },
  }
}
