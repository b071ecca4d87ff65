/** Source of the current time in milliseconds since the epoch. Tests replace it. */
export interface Clock {
  now(): number
}

/** The system clock. */
export const systemClock: Clock = { now: () => Date.now() }
