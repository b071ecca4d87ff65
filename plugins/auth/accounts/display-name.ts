/** Length of the column, in code points as databases count. */
const MOST = 200
/** Line breaks, lone surrogates, and controls that reverse the direction of the text after them (U+202E). */
const BREAKING = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u
/** Something that can be seen: neither a space nor a format character such as U+200B. */
const VISIBLE = /[^\p{Z}\p{C}\p{Default_Ignorable_Code_Point}]/u

/** The form of a name that is stored: NFC and trimmed. @returns null for one that is blank, breaks a line or is too long. */
export function displayName(input: string): string | null {
  // NFC may also lengthen a text (U+FB2C), so the limit holds for the result.
  const name = input.normalize('NFC').trim()
  return VISIBLE.test(name) && !BREAKING.test(name) && [...name].length <= MOST ? name : null
}
