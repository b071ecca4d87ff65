const SECONDS = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 } as const
const FORM = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/

/** A lifetime: seconds, or a number with a unit: `'500ms'`, `'30s'`, `'15m'`, `'1h'`, `'30d'`. */
export type Duration = number | string

/**
 * @returns the duration in seconds.
 * @throws RangeError unless the value is a non-negative finite number of seconds or a number with a unit.
 */
export function seconds(duration: Duration): number {
  const value = typeof duration === 'number' ? duration : parse(duration)
  if (!Number.isFinite(value) || value < 0)
    throw new RangeError(
      `'${duration}' is not a duration: write seconds, or a number with ms, s, m, h or d ('15m').`,
    )
  return value
}

/** Seconds of the longest delay of a timer; a longer one fires immediately. */
const LONGEST_DELAY = 2_147_483

/** Seconds above which a time limit without a unit may be meant in milliseconds, as Node has them. */
const LONGEST_NUMBER = 3600

/** Completes a message about a value that is not a time limit: "is not …", "must be …". */
export const TIME_LIMIT =
  "seconds up to 3600, or a duration with a unit such as '500ms', '30s' or '2h' up to 24 days"

/** True for a number above an hour. It may be meant in milliseconds, or come from `env.duration()`. */
export function isLongNumber(value: unknown): value is number {
  return typeof value === 'number' && value > LONGEST_NUMBER
}

interface Warner {
  warn(message: string): void
}

/** Warns of a time limit that may be meant in milliseconds. */
export function warnOfLongNumber(limit: string, value: unknown, logger: Warner): void {
  if (!isLongNumber(value)) return
  logger.warn(
    `${limit} is ${value} seconds, which is more than an hour. For milliseconds write '${value}ms'. ` +
      `To keep the seconds without this warning, write '${value}s'.`,
  )
}

/**
 * Returns the seconds of an option, and warns of a long number.
 * @throws RangeError for a value that is not a time limit.
 */
export function timeLimit(option: string, value: Duration, logger: Warner): number {
  if (!isTimeout(value)) throw new RangeError(`${value} is not ${TIME_LIMIT}.`)
  warnOfLongNumber(option, value, logger)
  return seconds(value)
}

/** Returns the milliseconds of a duration; NaN, which is outside of every range, for any other value. */
export function milliseconds(value: unknown): number {
  if (typeof value !== 'number' && typeof value !== 'string') return Number.NaN
  try {
    return seconds(value) * 1000
  } catch {
    return Number.NaN
  }
}

/** True for a duration that a timer can wait for: at most 24 days. */
export function isTimeout(value: unknown): boolean {
  return milliseconds(value) <= LONGEST_DELAY * 1000
}

function parse(text: string): number {
  const match = FORM.exec(text.trim())
  return match ? Number(match[1]) * SECONDS[match[2] as keyof typeof SECONDS] : Number.NaN
}
