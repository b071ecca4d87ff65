/** Possession of the one SQLite connection by one query runner. */
export interface Hold {
  readonly owner: object
  /** Statements under way. */
  running: number
  /** Kept although no transaction is open, such as while a migration has foreign keys switched off. */
  pinned: boolean
}

/** What a gate must know of its surroundings. */
export interface GateOptions {
  /** SQLite's own word on whether the connection is inside a transaction. */
  readonly inTransaction: () => boolean
  /** Told when one holder has kept others waiting for `warnAfter` milliseconds, and again after each such time. */
  readonly warn: (message: string) => void
  readonly warnAfter: number
  /** Calls back after some milliseconds and returns how to cancel; by default an unref'ed timer. */
  readonly schedule?: Schedule
}

export type Schedule = (callback: () => void, milliseconds: number) => () => void

/**
 * Lets one query runner at a time use a connection that all of them share. A single statement keeps it until it has
 * run, a transaction until SQLite says that none is open any more; the others follow first come, first served.
 * `test/plugins/database/interleavings.test.ts` holds it to a model.
 */
export class TransactionGate {
  readonly #options: GateOptions
  /** In order of arrival. Whoever's turn it is gets all of its statements in, as they may wait for each other. */
  readonly #waiting = new Map<object, ((hold: Hold) => void)[]>()
  #current: Hold | undefined
  #cancelWatch: (() => void) | undefined

  constructor(options: GateOptions) {
    this.#options = options
  }

  /** The present possession, if somebody has the connection. */
  get current(): Hold | undefined {
    return this.#current
  }

  isHeldBy(owner: object): boolean {
    return this.#current?.owner === owner
  }

  /** Counts a statement of `owner` in: at once when nobody else has the connection, else when its turn comes. */
  enter(owner: object): Hold | Promise<Hold> {
    if (this.#current === undefined) return this.#give(owner, 1)
    if (this.#current.owner !== owner) return this.#queue(owner)
    this.#current.running++
    return this.#current
  }

  /** Counts a statement out, and passes the connection on unless the holder is in a transaction. */
  leave(hold: Hold): void {
    hold.running--
    this.settle(hold)
  }

  /** Passes the connection on when nothing keeps it: no statement under way, no pin, no open transaction. */
  settle(hold: Hold): void {
    if (hold !== this.#current || hold.running > 0 || hold.pinned || this.#options.inTransaction()) return
    this.#passOn()
  }

  /** The connection is gone and its transaction with it: whoever waits goes on, and sees that for itself. */
  reset(): void {
    this.#passOn()
  }

  #give(owner: object, running: number): Hold {
    this.#current = { owner, running, pinned: false }
    return this.#current
  }

  #queue(owner: object): Promise<Hold> {
    return new Promise((resolve) => {
      const places = this.#waiting.get(owner)
      if (places) places.push(resolve)
      else this.#waiting.set(owner, [resolve])
      this.#watch()
    })
  }

  /** Straight to the next in line, so that a newcomer never gets in between. */
  #passOn(): void {
    this.#current = undefined
    const next = this.#waiting.entries().next()
    if (next.done) return
    const [owner, places] = next.value
    this.#waiting.delete(owner)
    if (this.#waiting.size === 0) this.#endWatch()
    const hold = this.#give(owner, places.length)
    for (const proceed of places) proceed(hold)
  }

  /** Only a holder that somebody waits for is worth a warning, so a run without contention starts no timer. */
  #watch(): void {
    if (this.#cancelWatch) return
    const { warn, warnAfter, schedule = scheduleTimer } = this.#options
    const suspect = this.#current
    this.#cancelWatch = schedule(() => {
      this.#cancelWatch = undefined
      if (this.#current === suspect) warn(stallMessage(warnAfter, this.#waiting.size))
      this.#watch()
    }, warnAfter)
  }

  #endWatch(): void {
    this.#cancelWatch?.()
    this.#cancelWatch = undefined
  }
}

function stallMessage(milliseconds: number, waiting: number): string {
  return (
    `A transaction has kept ${waiting} other ${waiting === 1 ? 'caller' : 'callers'} of this SQLite database ` +
    `waiting for ${milliseconds / 1000} s. Commit or roll back before anything slow, release every query runner, ` +
    'and inside a transaction wait for nobody who needs the database.'
  )
}

function scheduleTimer(callback: () => void, milliseconds: number): () => void {
  const timer = setTimeout(callback, milliseconds).unref()
  return () => clearTimeout(timer)
}
