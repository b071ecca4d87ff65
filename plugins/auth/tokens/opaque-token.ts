import { createHash, randomBytes } from 'node:crypto'

const HASH_LABEL = 'mortar/auth'

/** Makes a random value of the given number of bytes, in base64url. */
export function randomToken(bytes: number): string {
  return randomBytes(bytes).toString('base64url')
}

/**
 * Hashes an opaque token for storage: SHA-256 in hex (64 characters, equal under any collation). The hash includes the
 * purpose, so that a token of one purpose is never found under another (ASVS 6.5.2, 9.2.2). A fast hash is enough for 256
 * random bits.
 */
export function hashToken(purpose: string, token: string): string {
  return createHash('sha256').update(`${HASH_LABEL}/${purpose}\0${token}`).digest('hex')
}
