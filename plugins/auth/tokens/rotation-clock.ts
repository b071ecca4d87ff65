/*
 * The age of a rotation decides between a lost answer and a theft, so all processes read it from one clock: the
 * database's. An application with a clock of its own (a test) is judged by that clock instead, without the difference
 * that it had to the machine's when it was first used: two processes whose clocks differ by a minute agree, and a
 * clock that a test moves on moves the age. test/plugins/auth/clocks.test.ts covers both.
 */
import { systemClock, type AuthStore, type Clock } from '../../../src/index.ts'

/** Dates rotations and judges their age. Times are milliseconds since the epoch. */
export interface RotationClock {
  /** Date for a rotation; undefined where the database dates it. */
  stamp(): number | undefined
  /** Current time of the clock that dates rotations. */
  now(): Promise<number>
  /** This process's own reading of that clock, without a statement: exact to within the difference of the clocks. */
  roughly(): number
  /** Starts a stopwatch. The function it returns takes `now()` and gives the time of the start, or a little earlier. */
  startedAt(): (now: number) => number
}

/** Makes the clock of the rotations for an application with this clock and store. */
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

/** Differences to the machine's clock. By clock, since several applications of one test may share one. */
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
