const ISO = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/

/** The date of a `Date` or of an ISO 8601 string; undefined for any other value and for a date that does not exist. */
export function readIsoDate(value: unknown): Date | undefined {
  const isDate = typeof value === 'string' && ISO.test(value) && isDay(value.slice(0, 10))
  const date = isDate ? new Date(value) : value
  return date instanceof Date && !Number.isNaN(date.getTime()) ? date : undefined
}

const DATE_TIME =
  /^(\d{4}-\d{2}-(\d{2}))T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i

/** The instant of an RFC 3339 date-time (§5.6), such as `2026-02-28T12:00:00Z`; undefined for any other value. */
export function readDateTime(value: unknown): Date | undefined {
  const [text, day, dayOfMonth] = (typeof value === 'string' && DATE_TIME.exec(value)) || []
  if (text === undefined || (Number(dayOfMonth) > 28 && !isDay(day!))) return undefined
  const date = new Date(text.toUpperCase())
  return Number.isNaN(date.getTime()) ? undefined : date
}

/** JavaScript reads 30 February as 1 March. */
function isDay(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)
}

const TWO_DIGITS = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'))

/** Returns the result of `toISOString`, in a fraction of its time for the years 1000 to 9999. */
export function isoText(date: Date): string {
  const year = date.getUTCFullYear()
  if (year < 1000 || year > 9999) return date.toISOString()
  const month = TWO_DIGITS[date.getUTCMonth() + 1]!
  const day = TWO_DIGITS[date.getUTCDate()]!
  const hour = TWO_DIGITS[date.getUTCHours()]!
  const minute = TWO_DIGITS[date.getUTCMinutes()]!
  const second = TWO_DIGITS[date.getUTCSeconds()]!
  const thousandths = date.getUTCMilliseconds()
  const hundreds = Math.floor(thousandths / 100)
  const fraction = `${hundreds}${TWO_DIGITS[thousandths - hundreds * 100]!}`
  return `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction}Z`
}
