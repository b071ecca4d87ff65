/*
 * Access tokens are JWTs that only this application reads, so the header is never interpreted: it must equal, byte for
 * byte, a header that this application writes. Every manipulated header (`none`, another algorithm, `jku`, `jwk`, `crit`,
 * a foreign `kid`) fails this comparison. jwa, a part of jsonwebtoken, checks the signature with HS256 pinned, and
 * access-claims.ts checks every claim. jsonwebtoken's own `verify` would read header and claims again, in nearly twice
 * the time. Checked by test/plugins/auth/tokens/jwt-attacks.test.ts.
 */
import { createHmac, randomUUID, type KeyObject } from 'node:crypto'
import type { SignOptions } from 'jsonwebtoken'
import type { Clock } from 'mortar'
import { systemClock } from 'mortar/kit'
import { readAccessClaims, type AccessClaims, type ClaimRules } from './access-claims.ts'
import type { AuthKeys } from './keys.ts'
import { loadJsonWebToken, loadJwa } from '../password-packages.ts'
import { createVerifiedCache } from './verified-cache.ts'

export type { AccessClaims }

const MOST_BYTES = 8192
/** Characters of 32 bytes in base64url. */
const SIGNATURE_LENGTH = 43
const TYPE = 'at+jwt'
/** Seconds: one process's clock may be a minute behind while the issuer's clock is a minute ahead. */
const DEFAULT_TOLERANCE = 120
const DEFAULT_CACHE = 10_000
/** A larger token costs more memory than verifying it again. */
const MOST_CACHED_BYTES = 2048

/** Settings of `createAccessTokens`. */
export interface AccessTokensOptions extends Pick<ClaimRules, 'issuer' | 'audience' | 'lifetime'> {
  readonly keys: Pick<AuthKeys, 'access'>
  readonly clock?: Clock
  /** Seconds that another host's clock may be ahead; 120 by default. Does not extend a token's life. */
  readonly tolerance?: number
  /** Size of the cache of verified tokens. */
  readonly cache?: number
}

interface NewClaims extends Pick<AccessClaims, 'sub' | 'sid' | 'user'> {
  /** Becomes `auth_time` (RFC 9068 §2.2.1). */
  readonly authenticatedAt?: number | undefined
  /** Becomes `amr`. */
  readonly methods?: readonly string[]
  /** The end of the session, which no token outlives. */
  readonly endsAt?: number
}

/** Signs and verifies access tokens without a database. */
export type AccessTokens = ReturnType<typeof createAccessTokens>

interface SignatureCheck {
  verify(signed: string, signature: string, key: KeyObject): boolean
}

interface Verified {
  readonly token: string
  readonly claims: AccessClaims
}

interface NamedKey {
  readonly id: string
  readonly key: KeyObject
}

/** Makes access tokens: JWTs (HS256, `typ: at+jwt`, RFC 9068) of one issuer for one audience. */
export function createAccessTokens(options: AccessTokensOptions) {
  const { lifetime, clock = systemClock } = options
  const keys = options.keys.access.map((key) => ({ key, id: idOf(key) }))
  const check = createCheck(options, clock, keys)
  const verified = createVerifiedCache<Verified>(options.cache ?? DEFAULT_CACHE, clock)
  const endOf = ({ iat, exp }: AccessClaims): number => Math.min(exp, iat + lifetime) * 1000

  function verify(token: unknown): AccessClaims | null {
    if (typeof token !== 'string' || token.length > MOST_BYTES) return null
    // The cache key is the signature, a tenth of the token. The cached token must then equal the presented one.
    const signature = token.slice(-SIGNATURE_LENGTH)
    const known = verified.get(signature)
    if (known?.token === token) return known.claims
    const claims = check(token)
    if (claims && token.length <= MOST_CACHED_BYTES)
      verified.offer(signature, { token, claims }, endOf(claims))
    return claims
  }

  return {
    /** @returns the token and its lifetime in seconds. */
    sign: createSign(options, clock, keys[0]),
    /**
     * @returns the frozen claims of an unexpired token of this application, else null. Never throws. Does not check if the
     * session has ended.
     */
    verify,
  }
}

function createSign(options: AccessTokensOptions, clock: Clock, signing?: NamedKey) {
  const { issuer: iss, audience: aud, lifetime } = options
  if (!signing) throw new TypeError('createAccessTokens() needs at least one key.')
  return ({ sub, sid, user, authenticatedAt, methods = [], endsAt = Infinity }: NewClaims) => {
    const now = Math.floor(clock.now() / 1000)
    const expiresIn = Math.min(lifetime, Math.ceil(endsAt / 1000) - now)
    // jsonwebtoken treats 0 as a missing time.
    const times = { iat: Math.max(1, now), exp: now + expiresIn }
    const proof =
      authenticatedAt === undefined ? {} : { auth_time: Math.floor(authenticatedAt / 1000), amr: methods }
    const payload = { iss, aud, sub, sid, ...times, ...proof, jti: randomUUID(), user }
    const token = loadJsonWebToken().sign(payload, signing.key, headerOf(signing))
    if (token.length > MOST_BYTES)
      throw new RangeError(
        `The public record of user ${sub} makes an access token above ${MOST_BYTES} bytes.`,
      )
    return { token, expiresIn }
  }
}

function createCheck(options: AccessTokensOptions, clock: Clock, keys: readonly NamedKey[]) {
  const { issuer, audience, lifetime, tolerance = DEFAULT_TOLERANCE } = options
  let hs256: SignatureCheck | undefined
  let byHeader: ReadonlyMap<string, KeyObject> | undefined
  return (token: string): AccessClaims | null => {
    byHeader ??= new Map(keys.map((each) => [firstSegmentOf(each), each.key]))
    const headerEnd = token.indexOf('.')
    const payloadEnd = token.length - SIGNATURE_LENGTH - 1
    const key = byHeader.get(token.slice(0, headerEnd))
    if (!key || payloadEnd <= headerEnd || token[payloadEnd] !== '.') return null
    // jwa's types accept only string keys.
    hs256 ??= loadJwa()('HS256') as unknown as SignatureCheck
    if (!hs256.verify(token.slice(0, payloadEnd), token.slice(payloadEnd + 1), key)) return null
    const payload = readJson(token.slice(headerEnd + 1, payloadEnd))
    return readAccessClaims(payload, { issuer, audience, lifetime, now: clock.now() / 1000, tolerance })
  }
}

/** @returns undefined for invalid JSON */
function readJson(segment: string): unknown {
  try {
    return JSON.parse(Buffer.from(segment, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}

function headerOf({ id }: NamedKey): SignOptions {
  return { algorithm: 'HS256', keyid: id, header: { alg: 'HS256', typ: TYPE, kid: id } }
}

/** Returns the header segment of all tokens that this key signs. jsonwebtoken decides on the order of its members. */
function firstSegmentOf(named: NamedKey): string {
  return loadJsonWebToken().sign({}, named.key, headerOf(named)).split('.')[0]!
}

/** Returns a fingerprint that does not reveal the key. */
function idOf(key: KeyObject): string {
  return createHmac('sha256', key).update('key-id').digest('base64url').slice(0, 11)
}
