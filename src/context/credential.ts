import type { IncomingHttpHeaders } from 'node:http'
import type { Credential } from '../contracts/authenticator.ts'
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

/**
 * The credential of a request: `Authorization: Bearer` (RFC 6750 §2.1), else a token cookie, else the query parameter
 * `access_token`. The first found wins, and there is no fall-back when it turns out to be invalid.
 */
export function findCredential(request: CredentialSource, cookieNames: readonly string[]): Credential | null {
  const headers = request.rawHeaders as IncomingHttpHeaders
  const bearer = headers.authorization === undefined ? '' : bearerOf(headers.authorization)
  if (bearer) return { token: bearer, source: 'header' }
  const cookie = headers.cookie === undefined ? '' : cookieValue(headers.cookie, cookieNames)
  if (cookie) return { token: cookie, source: 'cookie' }
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

/** The value of the first of these cookies that is there; quotes around a value are not part of it (RFC 6265 §4.1.1). */
function cookieValue(header: string, names: readonly string[]): string {
  for (const name of names) {
    if (!header.includes(name)) continue
    for (const pair of header.split(';')) {
      const mark = pair.indexOf('=')
      if (mark === -1 || pair.slice(0, mark).trim() !== name) continue
      const value = pair
        .slice(mark + 1)
        .trim()
        .replace(/^"(.*)"$/, '$1')
      if (value) return value
    }
  }
  return ''
}
