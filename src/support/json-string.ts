/** Matches what JSON escapes: quotes, backslashes, control characters, halves of surrogate pairs. */
// oxlint-disable-next-line no-control-regex
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/

const SHORT = 40
const LONG = 5_000

/** Returns what `JSON.stringify` gives for a string, in a fraction of its time for most. */
export function jsonString(text: string): string {
  return isBare(text) ? `"${text}"` : JSON.stringify(text)
}

/** True for a string that JSON writes unchanged between quotes. Always false for very long strings. */
export function isBare(text: string): boolean {
  const { length } = text
  // A loop is quicker than an expression for a short string, and the platform for a long one.
  if (length > SHORT) return length <= LONG && !ESCAPED.test(text)
  for (let index = 0; index < length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c || (unit >= 0xd800 && unit <= 0xdfff)) return false
  }
  return true
}
