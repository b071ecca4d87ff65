const ISO = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/

/** The date of a `Date` or of an ISO 8601 string; undefined for any other value and for a date that does not exist. */
export function readIsoDate(value: unknown): Date | undefined {
  const date = typeof value === 'string' && ISO.test(value) ? new Date(value) : value
  return date instanceof Date && !Number.isNaN(date.getTime()) ? date : undefined
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
