/** `a`, `a and b`, `a, b and c`; the rest as a number if there are more than five. */
export function listWords(words: readonly string[]): string {
  const shown = words.length > 5 ? [...words.slice(0, 4), `${words.length - 4} more`] : words
  return shown.length < 2 ? (shown[0] ?? '') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}
