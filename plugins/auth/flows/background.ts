/** Work that no response waits for. */
export interface Background {
  run(work: () => Promise<void>): void
  /** Begins what waits, and resolves when all work is done. */
  settled(): Promise<void>
}

/**
 * Makes a background whose work begins `delay()` milliseconds after the turn of the event loop in which it was given,
 * never within that turn. A random delay keeps the work away from the request that comes next.
 */
export function createBackground(delay: () => number): Background {
  const running = new Set<Promise<void>>()
  const waiting = new Set<() => void>()

  const begin = (work: () => Promise<void>): Promise<void> =>
    new Promise((resolve) => {
      const start = (): void => {
        clearTimeout(timer)
        waiting.delete(start)
        // Not within this turn: a synchronous database would delay the response that is being written.
        setImmediate(() => resolve(work()))
      }
      const milliseconds = delay()
      const timer = milliseconds > 0 ? setTimeout(start, milliseconds) : undefined
      if (timer === undefined) start()
      else waiting.add(start)
    })

  return {
    run(work) {
      const done: Promise<void> = begin(work).finally(() => running.delete(done))
      running.add(done)
    },
    async settled() {
      for (const start of waiting) start()
      await Promise.all(running)
    },
  }
}
