import { checkPresetOptions, TEXT } from '../option-rules.ts'
import type { HostedAuthOptions } from '../options.ts'

/** An Auth0 tenant and the API that this application is to it. */
export interface Auth0Options {
  /** The tenant's domain, or a custom one: `example.eu.auth0.com`. */
  readonly domain: string
  /** The identifier of the API, which the page asks a token for as `audience`. */
  readonly audience: string
}

/** Access tokens of Auth0 for an API. Its issuer ends with a slash. */
export function auth0(options: Auth0Options): HostedAuthOptions {
  checkPresetOptions(options, 'auth0()', { domain: TEXT, audience: TEXT })
  const { domain, audience } = options
  return {
    issuer: `https://${domain}/`,
    audience,
    jwksUrl: `https://${domain}/.well-known/jwks.json`,
    algorithms: ['RS256', 'PS256'],
  }
}
