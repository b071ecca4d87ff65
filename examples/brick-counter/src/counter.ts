import { problem } from './problems.ts'

/** The service `counter`: a number in memory that never exceeds its limit. */
export class Counter {
  readonly limit: number
  #value = 0

  constructor(limit: number) {
    this.limit = limit
  }

  get value(): number {
    return this.#value
  }

  /** Adds one. @throws HttpError `counter_full`, 409, at the limit. */
  increment(): number {
    if (this.#value >= this.limit)
      throw problem('counter_full', `The counter is at its limit of ${this.limit}.`, {
        extensions: { limit: this.limit },
      })
    this.#value += 1
    return this.#value
  }
}
