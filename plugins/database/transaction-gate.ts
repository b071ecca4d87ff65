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
  /**
   * Told when one holder has kept others waiting for `warnAfter` milliseconds, and again after each such time.
   * Those who have waited through several are refused, so that a transaction which waits for one of them can end.
   */
  readonly warn: (message: string) => void
  readonly warnAfter: () => number
  /** Calls back after some milliseconds and returns how to cancel; by default an unref'ed timer. */
  readonly schedule?: Schedule
}

/** A runner in line, with all of its statements, as they may wait for each other. */
interface Place {
  readonly proceed: ((hold: Hold) => void)[]
  readonly refuse: ((reason: Error) => void)[]
  /** Times that a warning was due since it came, with the same holder. */
  warnings: number
}

/** Whoever has seen this many warnings is refused. */
const PATIENCE = 3

export type Schedule = (callback: () => void, milliseconds: number) => () => void

/**
 * Lets one query runner at a time use a connection that all of them share. A single statement keeps it until it has
 * run, a transaction until SQLite says that none is open any more; the others follow first come, first served.
 * `test/plugins/database/interleavings.test.ts` holds it to a model.
 */
export class TransactionGate {
  readonly #options: GateOptions
  /** In order of arrival. */
  readonly #waiting = new Map<object, Place>()
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
    return new Promise((proceed, refuse) => {
      const place = this.#waiting.get(owner) ?? { proceed: [], refuse: [], warnings: 0 }
      place.proceed.push(proceed)
      place.refuse.push(refuse)
      this.#waiting.set(owner, place)
      this.#watch()
    })
  }

  /** Straight to the next in line, so that a newcomer never gets in between. */
  #passOn(): void {
    this.#current = undefined
    if (this.#waiting.size === 0) return
    const [owner, { proceed }] = this.#waiting.entries().next().value!
    this.#leaveLine(owner)
    const hold = this.#give(owner, proceed.length)
    for (const resolve of proceed) resolve(hold)
  }

  #leaveLine(owner: object): void {
    this.#waiting.delete(owner)
    if (this.#waiting.size > 0) return
    this.#cancelWatch?.()
    this.#cancelWatch = undefined
  }

  /** Only a holder that somebody waits for is worth a warning, so a run without contention starts no timer. */
  #watch(): void {
    if (this.#cancelWatch) return
    const { warnAfter, schedule = scheduleTimer } = this.#options
    const suspect = this.#current
    this.#cancelWatch = schedule(() => {
      this.#cancelWatch = undefined
      if (this.#current === suspect) this.#reportStall()
      if (this.#waiting.size > 0) this.#watch()
    }, warnAfter())
  }

  #reportStall(): void {
    const { warn } = this.#options
    const warnAfter = this.#options.warnAfter()
    warn(stallMessage(this.#waiting.size, warnAfter))
    for (const [owner, place] of this.#waiting) {
      place.warnings++
      if (place.warnings < PATIENCE) continue
      this.#leaveLine(owner)
      for (const reject of place.refuse) reject(new Error(refusalMessage(warnAfter)))
    }
  }
}

function stallMessage(waiting: number, milliseconds: number): string {
  const callers = waiting === 1 ? '1 other caller' : `${waiting} other callers`
  return `A transaction has kept ${callers} of this SQLite database waiting for ${milliseconds / 1000} s. ${REMEDY}`
}

function refusalMessage(milliseconds: number): string {
  const time = `more than ${((PATIENCE - 1) * milliseconds) / 1000} s`
  return `This query has waited ${time} for a transaction on this SQLite database to end. ${REMEDY}`
}

const REMEDY =
  'Inside a transaction use its own manager, wait for nobody else who needs the database, ' +
  'do slow work before or after it, and release every query runner.'

function scheduleTimer(callback: () => void, milliseconds: number): () => void {
  const timer = setTimeout(callback, milliseconds).unref()
  return () => clearTimeout(timer)
}
