/** Milliseconds before each repetition; the last one applies from then on. */
const DELAYS = [1000, 4000, 16_000, 60_000, 300_000]
/** Maximum number of works that wait for a repetition. A further one is given up. */
const MOST_WAITING = 1000

/** Repeats work that failed, from the memory of this process: it is lost when the process ends. */
export interface Repeats {
  /** Calls `attempt` until it returns true. Resolves after the first call; the repetitions continue alone. */
  run(attempt: () => Promise<boolean>): Promise<void>
  /** Gives up everything that waits, and repeats nothing from now on. */
  stop(): void
}

/** Creates the repetitions of one process. `attempt` handles its own errors, and returns false to be called again. */
export function createRepeats(): Repeats {
  const waiting = new Set<NodeJS.Timeout>()
  let isStopped = false

  async function run(attempt: () => Promise<boolean>, count = 0): Promise<void> {
    if ((await attempt()) || isStopped || waiting.size >= MOST_WAITING) return
    const timer = setTimeout(
      () => {
        waiting.delete(timer)
        void run(attempt, count + 1)
      },
      DELAYS[Math.min(count, DELAYS.length - 1)],
    )
    timer.unref()
    waiting.add(timer)
  }

  return {
    run: (attempt) => run(attempt),
    stop() {
      isStopped = true
      for (const timer of waiting) clearTimeout(timer)
      waiting.clear()
    },
  }
}
