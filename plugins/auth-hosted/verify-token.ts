import type { CryptoKey, JWTPayload } from 'jose'
import { ServiceUnavailable, type Clock } from 'mortar'
import { isObject } from 'mortar/kit'
import { findIssuer } from './issuers.ts'
import { loadJose } from './jose.ts'
import type { PublishedKeys } from './published-keys.ts'
import { plainType, type HostedSettings } from './settings.ts'

/** Claims of a verified token. */
export type Claims = Readonly<Record<string, unknown>> & { readonly sub: string }

const MOST_BYTES = 16 * 1024
const LONGEST_ID = 255
const DEFAULT_TYPES = new Set(['jwt', 'at+jwt'])

/**
 * Verifies a provider's token: signature by one of its keys (RFC 8725), issuer, audience, authorised party, times, kind.
 * @returns the claims, or null for an invalid token.
 * @throws ServiceUnavailable 503 when the keys cannot be fetched.
 */
export async function verifyToken(
  token: string,
  {
    settings,
    keys,
    clock,
  }: { settings: HostedSettings; keys: ReadonlyMap<string, PublishedKeys>; clock: Clock },
): Promise<Claims | null> {
  // Checked before the keys are fetched, so that tokens of other issuers cause no fetch.
  if (token.length > MOST_BYTES) return null
  const { decodeJwt, jwtVerify } = await loadJose()
  const { iss, tid } = unverifiedClaims(token, decodeJwt)
  const issuer = findIssuer(settings.issuers, iss, tid)
  if (issuer === undefined) return null
  try {
    const { payload, protectedHeader } = await jwtVerify(
      token,
      async (header, input) => known(await keys.get(issuer)!.find(header, input)),
      {
        // The header does not choose the algorithm: a shared-secret algorithm or `none` is refused here.
        algorithms: settings.algorithms,
        issuer: iss as string,
        clockTolerance: settings.clockTolerance / 1000,
        currentDate: new Date(clock.now()),
        requiredClaims: ['sub', 'exp'],
      },
    )
    // The proof of a sender-constrained token (RFC 7800: DPoP, mutual TLS) is not checked here, so it would work for a
    // thief. A security event token (RFC 8417), such as a logout token, has no `typ` of its own from some servers.
    const isOther = payload['cnf'] !== undefined || isObject(payload['events'])
    const meant = !isOther && isOfKind(protectedHeader.typ, settings) && isMeant(payload, settings)
    const latestIssue = (clock.now() + settings.clockTolerance) / 1000
    return meant && isWhole(payload, latestIssue) ? (payload as Claims) : null
  } catch (error) {
    if (error instanceof ServiceUnavailable) throw error
    return null
  }
}

function unverifiedClaims(token: string, decode: (token: string) => JWTPayload): JWTPayload {
  try {
    return decode(token)
  } catch {
    return {}
  }
}

function known(key: CryptoKey | null): CryptoKey {
  if (key === null) throw new Error('The provider does not publish this key.')
  return key
}

/** Tokens of other kinds (logout tokens, proofs of possession) are signed with the same keys. */
function isOfKind(type: string | undefined, { types }: HostedSettings): boolean {
  if (type === undefined) return types === undefined
  return (types ?? DEFAULT_TYPES).has(plainType(type))
}

function isMeant(payload: JWTPayload, settings: HostedSettings): boolean {
  const { audience, audienceClaim, authorizedParties, claims } = settings
  const named = [payload[audienceClaim] ?? []].flat()
  if (audience.length > 0 && !audience.some((each) => named.includes(each))) return false
  if (authorizedParties.length > 0 && !authorizedParties.includes(payload['azp'] as string)) return false
  return Object.entries(claims).every(([name, allowed]) =>
    allowed.includes((Object.hasOwn(payload, name) ? payload[name] : null) as string | null),
  )
}

/** Requires a subject and an issue time that is not in the future. */
function isWhole({ sub, iat }: JWTPayload, latestIssue: number): boolean {
  const isNamed = typeof sub === 'string' && sub !== '' && sub.length <= LONGEST_ID
  return isNamed && (iat === undefined || iat <= latestIssue)
}
