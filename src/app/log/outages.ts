import type { Logger } from '../../contracts/logger.ts'
import type { OutageFailure, Outages } from '../../contracts/outages.ts'
import { isHttpError } from '../../errors/http-error.ts'
import { errorChain, type ChainedError } from '../../support/error-chain.ts'
import { readableError } from '../../support/readable-error.ts'

/** Milliseconds in which a cause writes at most `MOST` lines, and between two lines about further failures. */
const MINUTE = 60_000
const MOST = 3

/** The outages of one application, with their end. */
export interface ClosableOutages extends Outages {
  /** Logs the counts that wait. */
  flush(): void
}

/**
 * Joins failures by their cause: the address of the server. A failure without an address, such as a connection that ended, joins
 * the cause of the moment. A decision, such as a full queue, is a cause of its own.
 */
export function createOutages(logger: Logger): ClosableOutages {
  const causes: Cause[] = []

  function causeOf(error: unknown): Cause {
    const isDecision = isHttpError(error) && error.cause === undefined
    const names = isDecision ? [error.code] : serversOf(error)
    const others = causes.filter((cause) => cause.isDecision === isDecision)
    const found =
      others.find((cause) => names.some((name) => cause.names.has(name))) ??
      (names.length === 0 ? others.at(-1) : others.find((cause) => cause.names.size === 0)) ??
      begin(isDecision)
    for (const name of names) found.names.add(name)
    return found
  }

  function begin(isDecision: boolean): Cause {
    const cause = new Cause(logger, isDecision, () => void causes.splice(causes.indexOf(cause), 1))
    causes.push(cause)
    return cause
  }

  return {
    log: (failure) => causeOf(failure.error).fail(failure),
    begin(failure) {
      if (!causes.some(({ failing }) => failing.has(failure.part))) causeOf(failure.error).begin(failure)
    },
    end: (part) => causes.find(({ failing }) => failing.has(part))?.end(part),
    flush() {
      for (const cause of causes) cause.flush()
    },
  }
}

/** Addresses of the servers that an error names. */
function serversOf(error: unknown): readonly string[] {
  return errorChain(error).flatMap(({ host, port = '' }) =>
    typeof host === 'string' ? [`${host}:${String(port)}`] : [],
  )
}

/** The failures of one cause. Timers measure its minutes. */
class Cause {
  /** Addresses, or the code of a decision. */
  readonly names = new Set<string>()
  readonly failing = new Set<string>()
  readonly isDecision: boolean
  readonly #logger: Logger
  readonly #onEnd: () => void
  /** Parts, and reasons and codes with a line, since the first line of this outage. */
  readonly #parts = new Set<string>()
  readonly #reasons = new Set<string>()
  readonly #codes = new Set<unknown>()
  /** Numbers of failures, the parts that work again and reasons without a line, since the last line. */
  readonly #counts = new Map<string, number>()
  readonly #back = new Set<string>()
  readonly #otherReasons = new Set<string>()
  #hasNews = false
  #level: 'warn' | 'error' = 'warn'
  #linesOfMinute = 0
  #timer: NodeJS.Timeout | undefined

  constructor(logger: Logger, isDecision: boolean, onEnd: () => void) {
    this.#logger = logger
    this.isDecision = isDecision
    this.#onEnd = onEnd
  }

  fail(failure: OutageFailure): void {
    if (!this.#isLogged(failure)) this.#counts.set(failure.part, (this.#counts.get(failure.part) ?? 0) + 1)
  }

  begin(failure: OutageFailure): void {
    this.failing.add(failure.part)
    this.#back.delete(failure.part)
    this.#isLogged(failure)
  }

  end(part: string): void {
    this.failing.delete(part)
    this.#back.add(part)
    this.#remember()
    if (this.failing.size === 0 && this.#linesOfMinute < MOST) this.#logNews()
  }

  flush(): void {
    if (this.#counts.size > 0) this.#logNews()
    clearTimeout(this.#timer)
  }

  /** Logs the first failure, and the first one after it with another code of a driver. */
  #isLogged({ part, error, message, fields, level = 'warn' }: OutageFailure): boolean {
    if (level === 'error') this.#level = level
    if (!this.#parts.has(part)) {
      this.#parts.add(part)
      const reason = reasonOf(error)
      const codes = codesOf(error)
      const { size } = this.#reasons
      const isOther = size === 1 && codes.some((code) => !this.#codes.has(code))
      if ((size === 0 || isOther) && this.#linesOfMinute < MOST) {
        this.#reasons.add(reason)
        for (const code of codes) this.#codes.add(code)
        this.#write(level, { ...fields, reason }, `${message}: ${reason}`)
        this.#timer ??= this.#wait()
        return true
      }
      if (!this.#reasons.has(reason) && this.#otherReasons.size < MOST) this.#otherReasons.add(reason)
    }
    this.#remember()
    return false
  }

  #remember(): void {
    this.#hasNews = true
    this.#timer ??= this.#wait()
  }

  #wait(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timer = undefined
      this.#settle()
    }, MINUTE).unref()
  }

  /** Logs the news of a minute. After a quiet minute, the next failure is a first one. */
  #settle(): void {
    if (this.#hasNews) return this.#linesOfMinute < MOST ? this.#logNews() : undefined
    this.#parts.clear()
    this.#reasons.clear()
    this.#codes.clear()
    this.#level = 'warn'
    if (this.failing.size === 0 && this.#linesOfMinute === 0) this.#onEnd()
  }

  #write(level: 'info' | 'warn' | 'error', fields: object, message: string): void {
    this.#linesOfMinute += 1
    setTimeout(() => {
      this.#linesOfMinute -= 1
      if (this.#timer === undefined) this.#settle()
    }, MINUTE).unref()
    this.#logger[level](fields, message)
  }

  /** Logs what has happened since the last line. */
  #logNews(): void {
    const failures = Object.fromEntries(this.#counts)
    const [failing, back] = [[...this.failing], [...this.#back]]
    const reasons = [...this.#otherReasons]
    const counts = Object.entries(failures).map((each) => each.join(' '))
    const isOver = back.length > 0 && failing.length === 0
    const message = [
      back.length > 0 && `Works again: ${back.join(', ')}.`,
      failing.length > 0 && `Fails: ${failing.join(', ')}.`,
      counts.length > 0 && `Further failures since the last line: ${counts.join(', ')}.`,
      reasons.length > 0 && `Other reasons: ${reasons.join('; ')}`,
    ]
    this.#counts.clear()
    this.#back.clear()
    this.#otherReasons.clear()
    this.#hasNews = false
    this.#timer ??= this.#wait()
    this.#write(
      isOver ? 'info' : this.#level,
      { event: isOver ? 'outage.over' : 'outage.continues', failing, back, failures, reasons },
      message.filter((part) => part !== false).join(' '),
    )
  }
}

/** Text of the error that a driver or Node has thrown, without recognisable secrets. */
function reasonOf(error: unknown): string {
  return readableError(originsOf(error).find(({ message }) => message !== '')?.error ?? error)
}

function codesOf(error: unknown): readonly unknown[] {
  return originsOf(error).flatMap(({ code }) => (typeof code === 'string' ? [code] : []))
}

/** Without responses, whose code and message are for the client. */
function originsOf(error: unknown): readonly ChainedError[] {
  return errorChain(error).filter((each) => !isHttpError(each.error))
}
