import { hashToken, randomToken } from './opaque-token.ts'

const BYTES = 32
/** 43 characters of base64url. The last one contains only the remaining four bits. */
const FORM = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/

/** A reset token for the mail, and the hash to store. */
export interface IssuedResetToken {
  readonly token: string
  readonly hash: string
}

/** Makes and parses reset tokens: 256 random bits, single use, stored only as a hash (ASVS 6.4.1, 6.5.2). */
export interface ResetTokens {
  issue(): IssuedResetToken
  /** @returns the look-up hash; null for a malformed reset token. */
  hash(token: unknown): string | null
}

/** Creates reset tokens. They need no key: the hash includes a purpose, so no other token is valid as a reset token. */
export function createResetTokens(): ResetTokens {
  return {
    issue: () => {
      const token = randomToken(BYTES)
      return { token, hash: hashToken('reset-token', token) }
    },
    hash: (token) => (typeof token === 'string' && FORM.test(token) ? hashToken('reset-token', token) : null),
  }
}
