import { hashToken, randomToken } from './opaque-token.ts'

const BYTES = 32
/** 43 characters of base64url; the last may hold only the four bits that are left for it. */
const FORM = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/

/** A reset token for the mail, and the hash to store. */
export interface IssuedResetToken {
  readonly token: string
  readonly hash: string
}

/** Makes and reads reset tokens: 256 random bits, single use, stored only as a hash (ASVS 6.4.1, 6.5.2). */
export interface ResetTokens {
  issue(): IssuedResetToken
  /** @returns the hash under which it is looked up; null for anything that is not a reset token by its form. */
  hash(token: unknown): string | null
}

/** Makes the reset tokens. They need no key: a purpose goes into the hash, so no other token is valid as one. */
export function createResetTokens(): ResetTokens {
  return {
    issue: () => {
      const token = randomToken(BYTES)
      return { token, hash: hashToken('reset-token', token) }
    },
    hash: (token) => (typeof token === 'string' && FORM.test(token) ? hashToken('reset-token', token) : null),
  }
}
