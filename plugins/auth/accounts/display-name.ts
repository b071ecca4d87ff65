/** Length of the column, in code points as databases count. */
const MOST = 200
/** Line breaks, lone surrogates, and controls that reverse the direction of the text after them (U+202E). */
const BREAKING = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u
/** A visible character: neither a space nor a format character such as U+200B. */
const VISIBLE = /[^\p{Z}\p{C}\p{Default_Ignorable_Code_Point}]/u

/** Converts a name to its stored form, NFC and trimmed. @returns null for a blank, multi-line or too long name. */
export function displayName(input: string): string | null {
  // NFC may also lengthen a string (U+FB2C), so the limit applies to the result.
  const name = input.normalize('NFC').trim()
  return VISIBLE.test(name) && !BREAKING.test(name) && [...name].length <= MOST ? name : null
}
