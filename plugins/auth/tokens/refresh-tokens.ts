/*
 * The refresh tokens of a session are a chain: the successor of a token is a keyed function of that token. Whoever
 * presents the immediate predecessor again (a second tab, a lost answer) is given the very same successor, with no lock
 * and no token kept in the clear. The database alone yields nothing, because it holds hashes; the key alone yields
 * nothing, because a successor needs its predecessor; nor do both together.
 */
import { createHmac } from 'node:crypto'
import type { AuthKeys } from './keys.ts'
import { hashToken, randomToken } from './opaque-token.ts'

const FAMILY_BYTES = 16
const SECRET_BYTES = 32
/** `family.secret` in base64url; the last character of each part may hold only the bits that belong to it. */
const FORM = /^([A-Za-z0-9_-]{21}[AQgw])\.[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/
const LENGTH = 22 + 1 + 43

/** A refresh token for the cookie, and the hash to store. */
export interface IssuedRefreshToken {
  readonly token: string
  readonly hash: string
}

/** The hashes under which a well-formed token is looked up. */
export interface RefreshTokenHashes {
  readonly hash: string
  /** Hash of the part that stays the same for the session's life; finds the session of a token of any generation. */
  readonly familyHash: string
}

/** Makes and reads refresh tokens: 256 random bits, after a family name of 128 random bits that names the session. */
export interface RefreshTokens {
  /** The first token of a new session. */
  issue(): IssuedRefreshToken & RefreshTokenHashes
  /** @returns null for anything that is not a refresh token by its form, without hashing it. */
  hashes(token: unknown): RefreshTokenHashes | null
  /** The next token of the session, for a `presented` token that is the session's present one. */
  successor(presented: string, session: { readonly id: string }): IssuedRefreshToken
  /**
   * The present token of a session once more, computed from its immediate predecessor with whichever secret made it.
   * @returns null when `presented` is not the predecessor; for the predecessor, when the secret is not known here.
   */
  recover(
    presented: string,
    session: { readonly id: string; readonly tokenHash: string },
  ): IssuedRefreshToken | null
}

/** Makes the refresh tokens of these keys. The first key makes successors; all can recover one. */
export function createRefreshTokens({ keys }: { readonly keys: Pick<AuthKeys, 'refresh'> }): RefreshTokens {
  const signing = keys.refresh[0]
  if (!signing) throw new TypeError('createRefreshTokens() needs at least one key.')
  return {
    issue: () => withHashes(`${randomToken(FAMILY_BYTES)}.${randomToken(SECRET_BYTES)}`),
    hashes: readHashes,
    successor: (presented, session) => step(signing, presented, session.id),
    recover: (presented, session) =>
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
