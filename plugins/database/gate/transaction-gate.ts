import { markUnavailable } from '../connections/unavailable.ts'

/** Ownership of the one SQLite connection by one query runner. */
export interface Hold {
  readonly owner: object
  /** Number of running statements. */
  running: number
  /**
   * True if the owner keeps the connection without a transaction, for example while a migration has switched foreign
   * keys off.
   */
  pinned: boolean
}

/** Dependencies of a gate. */
export interface GateOptions {
  /** Returns true if SQLite reports an open transaction on the connection. */
  readonly inTransaction: () => boolean
  /**
   * Called when one owner has blocked others for `warnAfter` milliseconds, and again after each such time. Callers that
   * have waited through several are refused, so that a transaction that waits for one of them can end.
   */
  readonly warn: (message: string) => void
  readonly warnAfter: () => number
  /** Calls back after some milliseconds and returns how to cancel; by default an unref'ed timer. */
  readonly schedule?: Schedule
}

/** A waiting runner with all of its statements, because they may wait for each other. */
interface Place {
  readonly proceed: ((hold: Hold) => void)[]
  readonly refuse: ((reason: Error) => void)[]
  /** Number of warnings since its arrival, with the same owner. */
  warnings: number
}

/** Number of warnings after which a waiting runner is refused. */
const PATIENCE = 3

export type Schedule = (callback: () => void, milliseconds: number) => () => void

/**
 * Lets one query runner at a time use a connection that all of them share. A single statement keeps it until it has
 * run, a transaction until SQLite reports that none is open. The others follow in order of arrival.
 * `test/plugins/database/interleavings.test.ts` compares it with a model.
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

  /** The current ownership, if any. */
  get current(): Hold | undefined {
    return this.#current
  }

  isHeldBy(owner: object): boolean {
    return this.#current?.owner === owner
  }

  /** Registers a statement of `owner`: immediately if the connection is free, else in order of arrival. */
  enter(owner: object): Hold | Promise<Hold> {
    if (this.#current === undefined) return this.#give(owner, 1)
    if (this.#current.owner !== owner) return this.#queue(owner)
    this.#current.running++
    return this.#current
  }

  /** Unregisters a statement, and passes the connection on unless its owner is in a transaction. */
  leave(hold: Hold): void {
    hold.running--
    this.settle(hold)
  }

  /** Passes the connection on if there is no running statement, no pin and no open transaction. */
  settle(hold: Hold): void {
    if (hold !== this.#current || hold.running > 0 || hold.pinned || this.#options.inTransaction()) return
    this.#passOn()
  }

  /** Handles a closed connection, which ends its transaction: waiting callers continue and get the driver's error. */
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

  /** Hands the connection directly to the next waiting runner, so that a newcomer cannot overtake it. */
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

  /** Starts the timer of the warning only if another caller waits. */
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
      for (const reject of place.refuse)
        reject(markUnavailable(new Error(refusalMessage(warnAfter)), 'database_busy'))
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
  'Inside a transaction use its own manager, do not wait for other code that needs the database, ' +
  'do slow work before or after it, and release every query runner.'

function scheduleTimer(callback: () => void, milliseconds: number): () => void {
  const timer = setTimeout(callback, milliseconds).unref()
  return () => clearTimeout(timer)
}
