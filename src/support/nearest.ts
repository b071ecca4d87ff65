/**
 * Returns the candidate closest to a word, for "did you mean". Undefined if more than a third of the letters, or more
 * than three, would have to change. Case is ignored.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const limit = Math.min(3, Math.ceil(word.length / 3))
  let best: string | undefined
  let bestDistance = limit + 1
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase(), bestDistance)
    if (distance < bestDistance && candidate !== word) [best, bestDistance] = [candidate, distance]
  }
  return best
}

/** Returns the remedy for an unknown word: the candidate closest to it, or else the given text. */
export function didYouMean(word: string, candidates: Iterable<string>, otherwise: string): string {
  const guess = nearest(word, candidates)
  return guess === undefined ? otherwise : `Did you mean '${guess}'?`
}

/** Counts insertions, deletions and replacements between two words, up to `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    row = next
  }
  return row[b.length]!
}
