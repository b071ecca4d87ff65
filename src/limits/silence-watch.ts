/**
 * Rejects work while a store is silent: no result for `patience` milliseconds. A store that is slow, but responds to
 * others, is not silent. A process that was blocked itself first reads the results that have arrived.
 */
export class SilenceWatch {
  readonly #patience: number
  #lastResult = -Infinity

  constructor(patience: number) {
    this.#patience = patience
  }

  readonly #note = (): void => {
    this.#lastResult = performance.now()
  }

  /** Waits for work. The work itself continues after a rejection. */
  async watch<T>(work: Promise<T>): Promise<T> {
    const started = performance.now()
    let isSettled = false
    let timer: NodeJS.Timeout | undefined
    const silence = new Promise<never>((_resolve, reject) => {
      const judge = (): void => {
        if (isSettled) return
        const quiet = performance.now() - Math.max(started, this.#lastResult)
        if (quiet >= this.#patience)
          reject(new Error(`The store did not respond within ${this.#patience} ms.`))
        else wait(this.#patience - quiet)
      }
      const wait = (milliseconds: number): void => {
        // The event loop reads sockets between a timer and the immediate.
        timer = setTimeout(() => setImmediate(judge), milliseconds)
      }
      wait(this.#patience)
    })
    try {
      // The race handles each rejection, also one that follows its result.
      return await Promise.race([work.finally(this.#note), silence])
    } finally {
      isSettled = true
      clearTimeout(timer)
    }
  }
}
