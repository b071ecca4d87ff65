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

  /** Waits for work. The work itself continues after a rejection. */
  watch<T>(work: Promise<T>): Promise<T> {
    const started = performance.now()
    return new Promise((resolve, reject) => {
      let timer = setTimeout(judge, this.#patience)
      const stop = (): void => {
        clearTimeout(timer)
        this.#lastResult = performance.now()
      }
      const self = this
      let isSettled = false
      function judge(): void {
        // The poll phase of the event loop, which reads sockets, comes before this callback.
        setImmediate(() => {
          if (isSettled) return
          const quiet = performance.now() - Math.max(started, self.#lastResult)
          if (quiet >= self.#patience)
            reject(new Error(`The store did not respond within ${self.#patience} ms.`))
          else timer = setTimeout(judge, self.#patience - quiet)
        })
      }
      work.then(
        (value) => {
          isSettled = true
          stop()
          resolve(value)
        },
        (error: unknown) => {
          isSettled = true
          stop()
          reject(error)
        },
      )
    })
  }
}
