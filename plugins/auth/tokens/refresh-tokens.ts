/*
 * The refresh tokens of a session form a chain: the successor of a token is a keyed function of that token. A client that
 * presents the immediate predecessor again (a second tab, a lost response) receives the same successor, without a lock
 * and without a stored plain token. The database contains only hashes, and the key makes a successor only from its
 * predecessor, so neither of them yields a token, and both together do not either.
 */
import { createHmac } from 'node:crypto'
import type { AuthKeys } from './keys.ts'
import { hashToken, randomToken } from './opaque-token.ts'

const FAMILY_BYTES = 16
const SECRET_BYTES = 32
/** `family.secret` in base64url. The last character of each part may contain no extra bits. */
const FORM = /^([A-Za-z0-9_-]{21}[AQgw])\.[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/
const LENGTH = 22 + 1 + 43

/** A refresh token for the cookie, and the hash to store. */
export interface IssuedRefreshToken {
  readonly token: string
  readonly hash: string
}

/** Look-up hashes of a well-formed token. */
export interface RefreshTokenHashes {
  readonly hash: string
  /** Hash of the part that is constant for a session; finds the session of a token of any generation. */
  readonly familyHash: string
}

/** Makes and parses refresh tokens: a family id of 128 random bits, which identifies the session, and 256 random bits. */
export type RefreshTokens = ReturnType<typeof createRefreshTokens>

/** Creates refresh tokens with these keys. The first key makes successors; all keys can recover one. */
export function createRefreshTokens({ keys }: { readonly keys: Pick<AuthKeys, 'refresh'> }) {
  const signing = keys.refresh[0]
  if (!signing) throw new TypeError('createRefreshTokens() needs at least one key.')
  return {
    /** The first token of a new session. */
    issue: () => withHashes(`${randomToken(FAMILY_BYTES)}.${randomToken(SECRET_BYTES)}`),
    /** @returns null for a malformed refresh token, without hashing it. */
    hashes: readHashes,
    /** Makes the next token of the session from its current token `presented`. */
    successor: (presented: string, session: { readonly id: string }) => step(signing, presented, session.id),
    /**
     * Computes the current token of a session again from its immediate predecessor, with the secret that made it.
     * @returns null if `presented` is not the predecessor, or if its secret is unknown to this process.
     */
    recover: (presented: string, session: { readonly id: string; readonly tokenHash: string }) =>
      keys.refresh
        .map((key) => step(key, presented, session.id))
        .find((candidate) => candidate.hash === session.tokenHash) ?? null,
  }
}

function readHashes(token: unknown): RefreshTokenHashes | null {
  if (typeof token !== 'string' || token.length !== LENGTH) return null
  const family = FORM.exec(token)?.[1]
  if (family === undefined) return null
  return { hash: hashToken('refresh-token', token), familyHash: hashToken('refresh-family', family) }
}

function step(key: Buffer, presented: string, sessionId: string): IssuedRefreshToken {
  const family = FORM.exec(presented)?.[1]
  if (family === undefined) throw new TypeError('A successor needs a well-formed refresh token.')
  const secret = createHmac('sha256', key).update(`${sessionId}\0${presented}`).digest('base64url')
  return withHashes(`${family}.${secret}`)
}

function withHashes(token: string): IssuedRefreshToken & RefreshTokenHashes {
  const hashes = readHashes(token)
  if (!hashes) throw new Error('A refresh token was made that is not well-formed.')
  return { token, ...hashes }
}
