import type { Gauges } from '../contracts/gauges.ts'
import type { Logger } from '../contracts/logger.ts'
import { isHttpError, type HttpError } from '../errors/http-error.ts'
import { readableError } from '../support/readable-error.ts'

/** Milliseconds between two lines. */
const PAUSE = 60_000

/** The 503s of an application that a brick or the application foresees, such as a database that is away. */
export interface Unavailable {
  /**
   * Logs the first 503 of a code, unless another code had the same reason in this minute; of those that follow only their
   * number, once a minute for all codes together.
   */
  log(error: HttpError, fields: object): void
  /** Counts a response. */
  count(error: HttpError): void
  /** Logs the numbers that wait. */
  flush(): void
}

/**
 * Joins the lines of 503s: an outage fails every request, and a stack for each would fill the disk. The cause is the
 * problem code. The gauge `mortar_unavailable_total` counts the responses.
 */
export function createUnavailable(logger: Logger, gauges: Gauges): Unavailable {
  /** Number of 503s since the last line, by the codes of the last minute. */
  const repeats = new Map<string, number>()
  /** Reasons of the last minute: one outage often has several codes. */
  const reasons = new Set<string>()
  const responses = countResponses(gauges)
  let timer: NodeJS.Timeout | undefined

  function logRepeats(): void {
    timer = undefined
    reasons.clear()
    for (const [code, count] of repeats) if (count === 0) repeats.delete(code)
    if (repeats.size === 0) return
    const codes = Object.fromEntries(repeats)
    const list = Object.entries(codes).map((each) => each.join(' '))
    logger.error(
      { event: 'request.unavailable', codes },
      `Service unavailable, further requests since the last line: ${list.join(', ')}`,
    )
    for (const code of repeats.keys()) repeats.set(code, 0)
    wait()
  }

  function wait(): void {
    timer ??= setTimeout(logRepeats, PAUSE).unref()
  }

  return {
    log(error, fields) {
      const { code, cause = error } = error
      const count = repeats.get(code)
      const reason = count === undefined ? readableError(cause) : ''
      const isRepeat = count !== undefined || reasons.has(reason)
      repeats.set(code, isRepeat ? (count ?? 0) + 1 : 0)
      if (isRepeat) return
      reasons.add(reason)
      wait()
      logger.error(
        { event: 'request.unavailable', code, ...fields, reason },
        `Service unavailable (${code}): ${reason}`,
      )
    },
    count: ({ code }) => void responses.set(code, (responses.get(code) ?? 0) + 1),
    flush() {
      clearTimeout(timer)
      logRepeats()
      clearTimeout(timer)
      repeats.clear()
    },
  }
}

/** Returns the numbers of responses by code, which a gauge shows. */
function countResponses(gauges: Gauges): Map<string, number> {
  const responses = new Map<string, number>()
  gauges.add('mortar_unavailable_total', {
    help: 'Responses with the status 503, by problem code.',
    label: 'code',
    isCounter: true,
    read: () => responses,
  })
  return responses
}

/** True for a 503 that is a decision and not a failure. */
export function isUnavailable(error: unknown): error is HttpError {
  return isHttpError(error) && error.status === 503
}
