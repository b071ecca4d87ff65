/** Time as the primary process sees it. Tests have a clock of their own. */
export interface PrimaryClock {
  /** Seconds since some fixed moment. */
  now(): number
  /** Calls `run` after some seconds. @returns a function that cancels the call. */
  after(seconds: number, run: () => void): () => void
}

/** The clock of the machine. */
export const machineClock: PrimaryClock = {
  now: () => performance.now() / 1000,
  after(seconds, run) {
    const timer = setTimeout(run, seconds * 1000)
    return () => clearTimeout(timer)
  },
}
