/** HMAC keys shorter than this many UTF-8 bytes can be guessed from one token (RFC 7518 §3.2). */
const LEAST_BYTES = 32
/** Minimum of different characters. A random secret of 32 characters has many more, also in hexadecimal. */
const LEAST_DIFFERENT = 10
/** Placeholders of documentation and templates, and sequences. Random characters do not form them. */
const PLACEHOLDER =
  /change.?(?:me|this)|place.?holder|example|your.{0,5}(?:key|secret)|replace.?(?:me|this|with)|(?:super|top|my|jwt|auth|dev).{0,2}secret|secret.{0,2}(?:secret|key)|password.{0,2}(?:password|123)|not.?a.?secret|insecure|keyboard.?cat|01234567|12345678|abcdefgh|qwerty|lorem.?ipsum/i
const REPEATED = /^([^]{1,16})\1+$/

/**
 * Returns why a secret is too weak to sign with, as a predicate ("is shorter than 32 bytes"), or undefined if it may be
 * random. The application's start and `mortar doctor` use it. The result never contains the secret.
 */
export function weaknessOfSecret(secret: string): string | undefined {
  if (Buffer.byteLength(secret) < LEAST_BYTES) return `is shorter than ${LEAST_BYTES} bytes`
  if (new Set(secret).size < LEAST_DIFFERENT) return 'consists of few different characters'
  if (PLACEHOLDER.test(secret)) return 'is a placeholder or a sequence'
  if (REPEATED.test(secret)) return 'repeats one piece'
  return undefined
}
