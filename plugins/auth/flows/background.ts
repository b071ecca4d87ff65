/**
 * Creates a background. Work begins `delay()` milliseconds after the event-loop turn in which it was added, never
 * within that turn. A random delay separates the work from the next request.
 */
export function createBackground(delay: () => number) {
  const running = new Set<Promise<void>>()
  const waiting = new Set<() => void>()

  const begin = (work: () => Promise<void>): Promise<void> =>
    new Promise((resolve) => {
      const start = (): void => {
        clearTimeout(timer)
        waiting.delete(start)
        // Not in this turn: a synchronous database would delay the response that is being written.
        setImmediate(() => resolve(work()))
      }
      const milliseconds = delay()
      const timer = milliseconds > 0 ? setTimeout(start, milliseconds) : undefined
      if (timer === undefined) start()
      else waiting.add(start)
    })

  return {
    run(work: () => Promise<void>) {
      const done: Promise<void> = begin(work).finally(() => running.delete(done))
      running.add(done)
    },
    /** Starts delayed work and resolves when all work is done. */
    async settled() {
      // Work may add more, such as a mail.
      while (running.size > 0) {
        for (const start of waiting) start()
        await Promise.all(running)
      }
    },
  }
}
