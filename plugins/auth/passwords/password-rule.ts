const LEAST = 8
const MOST = 256
const MOST_BYTES = 1024

/**
 * Checks a new password: 8 to 256 code points after NFC, at most 1,024 bytes of UTF-8, well-formed Unicode, and no rule
 * of composition (NIST 800-63B-4 §3.1.1.2, ASVS 6.2.1, 6.2.5, 6.2.9).
 * @returns the fault, without the password in it, or undefined.
 */
export function checkPassword(password: string): string | undefined {
  const text = normalizePassword(password)
  if (text === null) return password.length > MOST ? TOO_LONG : ILL_FORMED
  const length = [...text].length
  if (length < LEAST) return `Use at least ${LEAST} characters.`
  return length > MOST ? TOO_LONG : undefined
}

const TOO_LONG = `Use at most ${MOST} characters.`
const ILL_FORMED = 'Contains a character that is not valid Unicode.'

/**
 * Converts a password to the hashed form: NFC, otherwise unchanged. Unpaired surrogates are refused, because UTF-8 maps
 * them all to one character, and different passwords would be equal.
 * @returns null for a password that cannot belong to an account.
 */
export function normalizePassword(password: string): string | null {
  // NFC never removes more than three of four units per code point; a longer password is refused before any work.
  if (password.length > 4 * MOST) return null
  if (/\p{Cs}/u.test(password)) return null
  const text = password.normalize('NFC')
  return Buffer.byteLength(text) <= MOST_BYTES ? text : null
}
