import type { IncomingHttpHeaders } from 'node:http'
import type { Credential } from '../contracts/authenticator.ts'
import { findCookie } from '../support/read-cookie.ts'
import type { RequestHeaders } from './context.ts'

// Everything after the scheme counts as the token. An invalid token must not cause a fallback to a cookie.
const SCHEME = /^Bearer +/i

/** The parts of a request that may contain a credential. */
export interface CredentialSource {
  readonly url: string
  readonly path: string
  readonly rawHeaders: RequestHeaders
  readonly rawQuery: Readonly<Record<string, string | string[] | undefined>>
}

/** Places in which a request may carry its credential. */
export const CREDENTIAL_SOURCES = ['header', 'cookie', 'query'] as const

/** Places where an application reads the credential of a request. */
export interface CredentialRules {
  readonly sources: readonly Credential['source'][]
  /** Names of token cookies, in reading order. */
  readonly cookies: readonly string[]
}

/**
 * Compiles the search for the credential of a request: `Authorization: Bearer` (RFC 6750 §2.1), else a token cookie,
 * else the query parameter `access_token`, if they are among the sources. The first one found is the credential, even
 * if it is invalid. With two different values of a token cookie there is no credential: somebody else has set one of
 * them, and a link with a token of theirs must not count in its place.
 */
export function compileCredential({
  sources,
  cookies,
}: CredentialRules): (request: CredentialSource) => Credential | null {
  const readsHeader = sources.includes('header')
  const names = sources.includes('cookie') ? cookies : []
  const readsQuery = sources.includes('query')
  return (request) => {
    const { authorization, cookie } = request.rawHeaders as IncomingHttpHeaders
    const bearer = readsHeader && authorization !== undefined ? bearerOf(authorization) : ''
    if (bearer) return { token: bearer, source: 'header' }
    const value = cookie === undefined ? undefined : cookieValue(cookie, names)
    if (value === null) return null
    if (value !== undefined) return { token: value, source: 'cookie' }
    return readsQuery ? queryCredential(request) : null
  }
}

function queryCredential(request: CredentialSource): Credential | null {
  const { url, path } = request
  if (url.length === path.length || !url.includes('access_token=', path.length)) return null
  const parameter = request.rawQuery['access_token']
  const token = Array.isArray(parameter) ? parameter[0] : parameter
  return token ? { token, source: 'query' } : null
}

/** Returns the text after the scheme, trimmed. A pattern with trailing spaces would take quadratic time. */
function bearerOf(authorization: string): string {
  const scheme = SCHEME.exec(authorization)
  if (!scheme) return ''
  let end = authorization.length
  while (authorization.charCodeAt(end - 1) === SPACE) end--
  return authorization.slice(scheme[0].length, end)
}

const SPACE = 0x20

/** Returns the value of the first of these cookies that has one, or null if it has several. */
function cookieValue(header: string, names: readonly string[]): string | null | undefined {
  for (const name of names) {
    const value = findCookie(header, name)
    if (value !== undefined) return value
  }
  return undefined
}
