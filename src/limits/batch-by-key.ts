import type { Counted } from './limit-store.ts'

/** Counts a number of requests of a key in one step. */
type CountMany = (requests: number) => Promise<Counted>

interface Waiting {
  readonly resolve: (counted: Counted) => void
  readonly reject: (error: unknown) => void
}

/**
 * Sends one command per key at a time: requests that arrive meanwhile are counted together by the next command, in the
 * order of their arrival. A flood from one client therefore costs a store one command at a time, and stays exact.
 */
export class BatchByKey {
  /** Requests that wait for the active command of their key. */
  readonly #waiting = new Map<string, Waiting[]>()

  /** Counts one request. */
  count(key: string, countMany: CountMany): Promise<Counted> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(key)
      if (waiting === undefined) {
        this.#waiting.set(key, [])
        void this.#run(key, [{ resolve, reject }], countMany)
      } else waiting.push({ resolve, reject })
    })
  }

  async #run(key: string, first: Waiting[], countMany: CountMany): Promise<void> {
    for (let batch = first; batch.length > 0; batch = this.#next(key)) await settle(batch, countMany)
    this.#waiting.delete(key)
  }

  #next(key: string): Waiting[] {
    const batch = this.#waiting.get(key)!
    this.#waiting.set(key, [])
    return batch
  }
}

async function settle(batch: readonly Waiting[], countMany: CountMany): Promise<void> {
  try {
    const { consumed, resetIn } = await countMany(batch.length)
    const before = consumed - batch.length
    for (const [index, { resolve }] of batch.entries()) resolve({ consumed: before + index + 1, resetIn })
  } catch (error) {
    for (const { reject } of batch) reject(error)
  }
}
