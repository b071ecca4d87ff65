import type { Counted, KeyCount } from './limit-store.ts'

/** Most keys of one command, so that no command is long. */
const MOST = 500

interface Waiting {
  readonly window: number
  readonly requests: {
    readonly resolve: (counted: Counted) => void
    readonly reject: (error: unknown) => void
  }[]
}

type Batch = readonly (readonly [key: string, Waiting])[]

/**
 * Sends one command at a time for all requests that wait, whatever their keys. Requests of one event loop turn, and
 * those that arrive during a command, are counted together by the next command, each key in the order of arrival.
 */
export class BatchedCounts {
  readonly #send: (counts: readonly KeyCount[]) => Promise<readonly Counted[]>
  readonly #waiting = new Map<string, Waiting>()
  #isActive = false

  constructor(send: (counts: readonly KeyCount[]) => Promise<readonly Counted[]>) {
    this.#send = send
  }

  /** Counts one request. */
  count(key: string, window: number): Promise<Counted> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(key)
      if (waiting === undefined) this.#waiting.set(key, { window, requests: [{ resolve, reject }] })
      else waiting.requests.push({ resolve, reject })
      if (this.#isActive) return
      this.#isActive = true
      // The requests of other connections that this turn of the event loop reads join the command.
      setImmediate(() => void this.#run())
    })
  }

  async #run(): Promise<void> {
    while (this.#waiting.size > 0) await this.#settle(this.#next())
    this.#isActive = false
  }

  #next(): Batch {
    const batch = [...this.#waiting].slice(0, MOST)
    for (const [key] of batch) this.#waiting.delete(key)
    return batch
  }

  async #settle(batch: Batch): Promise<void> {
    try {
      const counts = batch.map(([key, { window, requests }]) => ({ key, window, requests: requests.length }))
      const counted = await this.#send(counts)
      for (const [index, [, { requests }]] of batch.entries()) {
        const { consumed, resetIn } = counted[index]!
        const before = consumed - requests.length
        for (const [place, { resolve }] of requests.entries())
          resolve({ consumed: before + place + 1, resetIn })
      }
    } catch (error) {
      for (const [, { requests }] of batch) for (const { reject } of requests) reject(error)
    }
  }
}
