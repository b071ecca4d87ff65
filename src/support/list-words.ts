/** `a`, `a and b`, `a, b and c`; the rest as a number if there are more than `most`. */
export function listWords(words: readonly string[], most = 5): string {
  const rest = words.length - most + 1
  const shown = words.length > most ? [...words.slice(0, most - 1), `${rest} more`] : words
  return shown.length < 2 ? (shown[0] ?? '') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}
