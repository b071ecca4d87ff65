import type { Outages } from 'mortar'
import { PAGE, type ChannelEngine, type Place, type Reading } from './engine.ts'

/** Milliseconds of the first and the longest pause after failures. */
const AGAIN = 250
const LONGEST_PAUSE = 1000

/** Settings of a `Follower`. */
export interface FollowerOptions {
  readonly engine: ChannelEngine
  readonly outages: Outages
  /** Receives events in their order, each once. `place` is the follower's place after them. */
  readonly deliver: (reading: Reading) => void
  /** Receives the place from which events go on after lost ones. */
  readonly reset: (place: Place) => void
}

/** Reads the events of an engine in their order while the application runs. */
export class Follower {
  /** The place of the events that were delivered. */
  place: Place = { epoch: '', at: 0, time: 0 }
  readonly #options: FollowerOptions
  #timer: NodeJS.Timeout | undefined = undefined
  #reading: Promise<void> | undefined = undefined
  #isWanted = false
  #isStopped = true
  #failures = 0

  constructor(options: FollowerOptions) {
    this.#options = options
  }

  start(place: Place): void {
    this.place = place
    this.#isStopped = false
    this.wake()
  }

  /** Reads now, or again after the current read. */
  wake(): void {
    if (this.#isStopped) return
    // A read that waits gets new events by itself.
    if (this.#reading !== undefined) return void (this.#isWanted ||= this.#options.engine.pause > 0)
    clearTimeout(this.#timer)
    this.#reading = this.#readAll().finally(() => {
      this.#reading = undefined
      if (this.#isStopped) return
      if (this.#isWanted && this.#failures === 0) this.wake()
      else this.#timer = setTimeout(() => this.wake(), this.#pause()).unref()
    })
  }

  /** Resolves after a number was read, or could not be. It never rejects. */
  async refresh(at: number): Promise<void> {
    for (let turn = 0; turn < 2 && this.place.at < at; turn++) {
      this.wake()
      await this.#reading
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#options.engine.close?.()
    await this.#reading
  }

  async #readAll(): Promise<void> {
    const { engine, outages } = this.#options
    try {
      do {
        this.#isWanted = false
        const reading = await engine.read(this.place)
        this.#accept(reading)
        this.#isWanted ||= reading.events.length === PAGE
      } while (this.#isWanted && !this.#isStopped)
      this.#failures = 0
      outages.end('channels')
    } catch (error) {
      if (this.#isStopped) return
      this.#failures++
      const fields = { brick: 'channels' }
      outages.begin({ part: 'channels', error, message: 'The events of channels cannot be read', fields })
    }
  }

  #accept(reading: Reading): void {
    const { events, isRewritten, ...place } = reading
    const { epoch, at, time } = place
    const before = this.place
    this.place = place
    const isWhole = before.epoch === epoch && at - before.at === events.length && !isRewritten
    if (!isWhole && before.epoch !== '')
      this.#options.reset({ epoch, time, at: (events[0]?.at ?? at + 1) - 1 })
    this.#options.deliver(reading)
  }

  #pause(): number {
    if (this.#failures > 0) return Math.min(AGAIN * 2 ** this.#failures, LONGEST_PAUSE)
    return this.#options.engine.pause * (0.9 + 0.2 * Math.random())
  }
}
