import { checkPresetOptions, TEXT } from '../option-rules.ts'
import type { HostedPreset } from '../options.ts'

/** An Auth0 tenant and the identifier of this application's API. */
export interface Auth0Options {
  /** The tenant's domain, or a custom one: `example.eu.auth0.com`. */
  readonly domain: string
  /** The identifier of the API, which the page passes as `audience` when it requests a token. */
  readonly audience: string
}

/** Accepts access tokens of Auth0 for an API. The issuer ends with a slash. */
export function auth0(options: Auth0Options): HostedPreset {
  checkPresetOptions(options, 'auth0()', { domain: TEXT, audience: TEXT })
  const { domain, audience } = options
  return {
    issuer: `https://${domain}/`,
    audience,
    jwksUrl: `https://${domain}/.well-known/jwks.json`,
    algorithms: ['RS256', 'PS256'],
  }
}
