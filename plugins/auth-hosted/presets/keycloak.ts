import { checkPresetOptions, TEXT } from '../option-rules.ts'
import type { HostedPreset } from '../options.ts'

/** A realm of a Keycloak server. */
export interface KeycloakOptions {
  /** The server's public address, with `/auth` if it uses that path: `https://sso.example.com`. */
  readonly url: string
  readonly realm: string
  /** Value of `aud`, set by an audience mapper of the client. Keycloak's default is `account`. */
  readonly audience?: string
  /** Ids of the clients whose tokens are accepted, for realms without an audience mapper. */
  readonly authorizedParties?: readonly string[]
}

/** Accepts access tokens of Keycloak; the claim `typ` distinguishes them from ID tokens. */
export function keycloak(options: KeycloakOptions): HostedPreset {
  checkPresetOptions(options, 'keycloak()', {
    url: TEXT,
    realm: TEXT,
    audience: { is: 'string', guard: true },
    authorizedParties: { is: 'strings', guard: true },
  })
  const { url, realm, audience, authorizedParties } = options
  const issuer = `${url.replace(/\/+$/, '')}/realms/${encodeURIComponent(realm)}`
  return {
    issuer,
    ...(audience === undefined ? {} : { audience }),
    ...(authorizedParties === undefined ? {} : { authorizedParties }),
    claims: { typ: 'Bearer' },
    jwksUrl: `${issuer}/protocol/openid-connect/certs`,
    algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'],
  }
}
