import type { UserSession } from 'mortar'
import { isObject } from 'mortar/kit'

/** Claims of an access token. Times are seconds since the epoch. */
export interface AccessClaims {
  /** Id of the user. */
  readonly sub: string
  /** Id of the session. */
  readonly sid: string
  readonly iat: number
  readonly exp: number
  readonly jti: string
  /** The public record of the user at the time of issue. */
  readonly user: Readonly<Record<string, unknown>>
  /** `sid`, `auth_time` and `amr`. A token from before these two claims has no moment and no method. */
  readonly session: UserSession
}

/** Expected values of a token's claims. Times in seconds. */
export interface ClaimRules {
  readonly issuer: string
  readonly audience: string
  readonly lifetime: number
  readonly now: number
  readonly tolerance: number
}

const LONGEST_ID = 255

/**
 * Reads the payload of a token with a valid signature. Every claim must exist with the right type (ASVS 9.2.1-9.2.4). A
 * token expires at its `exp` or one configured lifetime after its issue, whichever is earlier.
 * @returns the deeply frozen claims, or null.
 */
export function readAccessClaims(payload: unknown, rules: ClaimRules): AccessClaims | null {
  if (!isObject(payload)) return null
  const { iss, aud, sub, sid, iat, exp, nbf, jti, user, auth_time: provenAt, amr } = payload
  if (iss !== rules.issuer || aud !== rules.audience) return null
  if (!isId(sub) || !isId(sid) || !isId(jti) || !isObject(user)) return null
  if (!isSecond(iat) || !isSecond(exp) || !isCurrent(iat, exp, rules) || !hasBegun(nbf, rules)) return null
  return freezeDeep({ sub, sid, iat, exp, jti, user, session: sessionOf(sid, provenAt, amr) })
}

function sessionOf(id: string, provenAt: unknown, amr: unknown): UserSession {
  const methods = Array.isArray(amr) ? amr.filter((each) => typeof each === 'string') : []
  return isSecond(provenAt) ? { id, authenticatedAt: provenAt * 1000, methods } : { id, methods }
}

function isCurrent(iat: number, exp: number, { now, lifetime, tolerance }: ClaimRules): boolean {
  return iat < exp && iat <= now + tolerance && now < Math.min(exp, iat + lifetime)
}

/** This application writes no `nbf`, but respects an existing one (RFC 7519 §4.1.5). */
function hasBegun(nbf: unknown, { now }: ClaimRules): boolean {
  return nbf === undefined || (isSecond(nbf) && nbf <= now)
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= LONGEST_ID
}

function isSecond(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** All requests with one token share its claims, so no request may change them. */
function freezeDeep<T extends object>(value: T): T {
  for (const key in value) {
    const each = value[key]
    if (typeof each === 'object' && each !== null) freezeDeep(each)
  }
  return Object.freeze(value)
}
