/** Longest unit whose repetition counts as a pattern: `abcdabcd` does, `batterybattery` does not. */
const LONGEST_UNIT = 4
/** Shortest part of a password that counts as a sequence: `qweasdzxc` has three of them. */
const SHORTEST_RUN = 3

/** Sequences of characters: digits, the alphabet, and rows and columns of common keyboards. */
const LINES = [
  '01234567890',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiop[]',
  "asdfghjkl;'",
  'zxcvbnm,./',
  'qwertzuiop',
  'yxcvbnm',
  'azertyuiop',
  'qsdfghjklm',
  'wxcvbn',
  '!@#$%^&*()',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.',
  'qazwsxedcrfvtgbyhnujm',
]
const FORWARD = new Set(LINES.flatMap(pairsOf))
const BACKWARD = new Set(LINES.map((line) => [...line].toReversed().join('')).flatMap(pairsOf))

/**
 * True for a password that repeats a short unit (`aaaaaaaa`, eight spaces, `12341234`), or consists only of sequences
 * (`abcdefgh`, `qwertyui`, `abc12345`). Expects the form of `foldPassword`.
 */
export function isPattern(folded: string): boolean {
  const characters = [...folded]
  return repeatsUnit(characters) || onlySequences(characters)
}

function repeatsUnit(characters: readonly string[]): boolean {
  for (let unit = 1; unit <= LONGEST_UNIT && 2 * unit <= characters.length; unit++)
    if (characters.every((character, at) => at < unit || character === characters[at - unit])) return true
  return false
}

function onlySequences(characters: readonly string[]): boolean {
  for (let at = 0; at < characters.length;) {
    const length = runAt(characters, at)
    if (length < SHORTEST_RUN) return false
    at += length
  }
  return characters.length > 0
}

/** Returns the length of the longest run at a position: forwards, backwards, or of one character. */
function runAt(characters: readonly string[], begin: number): number {
  const lengths = [FORWARD, BACKWARD, null].map((pairs) => {
    let at = begin + 1
    while (at < characters.length && continues(pairs, characters[at - 1]!, characters[at]!)) at++
    return at - begin
  })
  return Math.max(...lengths)
}

function continues(pairs: ReadonlySet<string> | null, before: string, character: string): boolean {
  return pairs === null ? before === character : pairs.has(before + character)
}

function pairsOf(line: string): string[] {
  return [...line].slice(1).map((character, at) => line[at]! + character)
}
