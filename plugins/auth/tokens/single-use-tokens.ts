import { hashToken, randomToken } from './opaque-token.ts'

const BYTES = 32
/** 43 characters of base64url. The last one contains only the remaining four bits. */
const FORM = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/

/** Makes and parses tokens of one purpose: 256 random bits, stored only as a hash (ASVS 6.4.1, 6.5.2). */
export type SingleUseTokens = ReturnType<typeof createSingleUseTokens>

/** Creates tokens of a purpose. They need no key: the hash includes the purpose, so no other token is valid here. */
export function createSingleUseTokens(purpose: string) {
  return {
    issue: () => {
      const token = randomToken(BYTES)
      return { token, hash: hashToken(purpose, token) }
    },
    /** @returns the look-up hash; null for a malformed token. */
    hash: (token: unknown) =>
      typeof token === 'string' && FORM.test(token) ? hashToken(purpose, token) : null,
  }
}

/** Creates reset tokens. */
export const createResetTokens = () => createSingleUseTokens('reset-token')
