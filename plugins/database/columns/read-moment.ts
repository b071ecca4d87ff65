/**
 * Reads `2026-11-22 08:15:30.123`, the form in which SQLite and PostgreSQL give an instant in UTC. The fraction may be
 * missing or have any number of digits; digits after the milliseconds are dropped. `+00` may follow.
 * @returns milliseconds since the epoch; NaN for any other format, and for a year before 100.
 */
export function millisecondsOf(text: string): number {
  if (text.length < 19 || text.charCodeAt(10) !== SPACE) return Number.NaN
  return dayAt(text) + timeAt(text) + fractionAt(text)
}

const [SPACE, DASH, COLON, POINT, PLUS, ZERO] = [...' -:.+0'].map((sign) => sign.charCodeAt(0))

/** Milliseconds from the epoch to the day. `Date.UTC` moves a day that the month does not have, as TypeORM does. */
function dayAt(text: string): number {
  if (text.charCodeAt(4) !== DASH || text.charCodeAt(7) !== DASH) return Number.NaN
  const year = 100 * pairAt(text, 0) + pairAt(text, 2)
  const month = pairAt(text, 5)
  const day = pairAt(text, 8)
  // A comparison with NaN is false. `Date.UTC` reads 99 as 1999.
  const isDay = year >= 100 && month >= 1 && month <= 12 && day >= 1 && day <= 31
  return isDay ? Date.UTC(year, month - 1, day) : Number.NaN
}

/** Milliseconds from midnight to the second. */
function timeAt(text: string): number {
  if (text.charCodeAt(13) !== COLON || text.charCodeAt(16) !== COLON) return Number.NaN
  const hours = pairAt(text, 11)
  const minutes = pairAt(text, 14)
  const seconds = pairAt(text, 17)
  return hours <= 23 && minutes <= 59 && seconds <= 59
    ? ((hours * 60 + minutes) * 60 + seconds) * 1000
    : Number.NaN
}

/** Milliseconds of the fraction, if there is one. */
function fractionAt(text: string): number {
  const { length } = text
  if (length === 19) return 0
  let milliseconds = 0
  let at = 19
  if (text.charCodeAt(at) === POINT)
    for (let worth = 100; ++at < length; worth /= 10) {
      const digit = digitAt(text, at)
      if (Number.isNaN(digit)) break
      if (worth >= 1) milliseconds += digit * worth
    }
  const ends = at === length ? length > 20 : isZeroOffset(text, at)
  return ends ? milliseconds : Number.NaN
}

function isZeroOffset(text: string, at: number): boolean {
  return (
    text.length === at + 3 &&
    text.charCodeAt(at) === PLUS &&
    text.charCodeAt(at + 1) === ZERO &&
    text.charCodeAt(at + 2) === ZERO
  )
}

/** Two digits; NaN for another character. */
function pairAt(text: string, at: number): number {
  return 10 * digitAt(text, at) + digitAt(text, at + 1)
}

function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - 48
  return digit >= 0 && digit <= 9 ? digit : Number.NaN
}
