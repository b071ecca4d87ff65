/** Seconds after which a worker counts as stable: its next crash waits only as long as the first. */
const STABLE_AFTER = 2
/** Longest delay in seconds. */
const LONGEST = 30

/** Delays between the crashes of one worker and its restarts. */
export type BackOff = ReturnType<typeof createBackOff>

/** Creates the delays of one worker. */
export function createBackOff() {
  let failures = 0
  return {
    /**
     * Returns the seconds until the next start: 1, 2, 4 … 30.
     * @param served seconds for which the worker was ready before it ended; undefined if it never was.
     */
    next(served: number | undefined) {
      if (isStable(served)) failures = 0
      failures += 1
      return Math.min(2 ** (failures - 1), LONGEST)
    },
    reset() {
      failures = 0
    },
  }
}

/** True for a worker that was ready long enough to trust its next start. */
export function isStable(served: number | undefined): boolean {
  return served !== undefined && served >= STABLE_AFTER
}
