/** Milliseconds before each repetition; the last one applies from then on. */
const DELAYS = [1000, 4000, 16_000, 60_000, 300_000]
/** Maximum number of works that wait for a repetition. A further one is given up. */
const MOST_WAITING = 1000

/** Repeats work that failed, from the memory of this process: it is lost when the process ends. */
export interface Repeats {
  /**
   * Calls `attempt` until it returns true. Resolves after the first call; the repetitions continue alone.
   * @returns false if the work has failed and is not repeated: too much waits, or the process stops.
   */
  run(attempt: () => Promise<boolean>): Promise<boolean>
  /** Calls everything that waits once more, and repeats nothing from now on. @returns the number of works that failed again. */
  finish(): Promise<number>
}

/** Creates the repetitions of one process. `attempt` handles its own errors, and returns false to be called again. */
export function createRepeats(): Repeats {
  const waiting = new Map<NodeJS.Timeout, () => Promise<boolean>>()
  const running = new Set<Promise<boolean>>()
  let isStopped = false

  async function run(attempt: () => Promise<boolean>, count = 0): Promise<boolean> {
    if (await attempt()) return true
    // Work that is repeated keeps its place: nobody would learn that it was given up.
    if (isStopped || (count === 0 && waiting.size + running.size >= MOST_WAITING)) return false
    const timer = setTimeout(
      () => {
        waiting.delete(timer)
        const repetition: Promise<boolean> = run(attempt, count + 1).finally(() => running.delete(repetition))
        running.add(repetition)
      },
      DELAYS[Math.min(count, DELAYS.length - 1)],
    )
    timer.unref()
    waiting.set(timer, attempt)
    return true
  }

  return {
    run: (attempt) => run(attempt),
    async finish() {
      isStopped = true
      const last = [...waiting]
      waiting.clear()
      for (const [timer] of last) clearTimeout(timer)
      const results = await Promise.all([...running, ...last.map(([, attempt]) => attempt())])
      return results.filter((isDone) => !isDone).length
    },
  }
}
