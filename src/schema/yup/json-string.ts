/** What JSON writes in another way than it is: quotes, backslashes, control characters, halves of surrogate pairs. */
// oxlint-disable-next-line no-control-regex
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/

const SHORT = 40
const LONG = 5_000

/** What `JSON.stringify` gives for a string, in a fraction of its time for most. */
export function jsonString(text: string): string {
  return isBare(text) ? `"${text}"` : JSON.stringify(text)
}

/** True for a text that JSON writes as it is, between quotes; very long ones are not looked at. */
export function isBare(text: string): boolean {
  const { length } = text
  // For a short text, a loop is quicker than an expression; for a long one, so is the platform.
  if (length > SHORT) return length <= LONG && !ESCAPED.test(text)
  for (let index = 0; index < length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c || (unit >= 0xd800 && unit <= 0xdfff)) return false
  }
  return true
}
