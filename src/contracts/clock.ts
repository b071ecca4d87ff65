/** Source of the present time in milliseconds since the epoch; tests put their own in its place. */
export interface Clock {
  now(): number
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() }
