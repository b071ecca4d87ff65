import type { IncomingHttpHeaders } from 'node:http'
import type { Credential } from '../contracts/authenticator.ts'
import { readCookie } from '../support/read-cookie.ts'
import type { RequestHeaders } from './context.ts'

// Whatever follows the scheme was sent as the token: one that is none must not let a cookie speak in its place.
const SCHEME = /^Bearer +/i

/** The parts of a request in which a credential may stand. */
export interface CredentialSource {
  readonly url: string
  readonly path: string
  readonly rawHeaders: RequestHeaders
  readonly rawQuery: Readonly<Record<string, string | string[] | undefined>>
}

/** Places in which a request may carry its credential. */
export const CREDENTIAL_SOURCES = ['header', 'cookie', 'query'] as const

/** Places where an application looks for the credential of a request. */
export interface CredentialRules {
  readonly sources: readonly Credential['source'][]
  /** Names of token cookies, in the order in which they are read. */
  readonly cookies: readonly string[]
}

/**
 * Compiles the search for the credential of a request: `Authorization: Bearer` (RFC 6750 §2.1), else a token cookie, else
 * the query parameter `access_token`, as far as they are among the sources. The first found is the credential; the next
 * source is not used when it is invalid. Two different values of a token cookie are none.
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
    const value = cookie === undefined ? '' : cookieValue(cookie, names)
    if (value) return { token: value, source: 'cookie' }
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

/** What follows the scheme, without the spaces around it; a pattern that ends in them would take time by the square. */
function bearerOf(authorization: string): string {
  const scheme = SCHEME.exec(authorization)
  if (!scheme) return ''
  let end = authorization.length
  while (authorization.charCodeAt(end - 1) === SPACE) end--
  return authorization.slice(scheme[0].length, end)
}

const SPACE = 0x20

/** The value of the first of these cookies that has one. */
function cookieValue(header: string, names: readonly string[]): string {
  for (const name of names) {
    const value = readCookie(header, name)
    if (value !== null) return value
  }
  return ''
}
