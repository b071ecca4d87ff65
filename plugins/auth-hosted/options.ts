import type { Duration, User } from 'mortar'

/** Public-key signatures. Tokens signed with a shared secret are always refused. */
export type HostedAlgorithm = (typeof ALGORITHMS)[number]

export const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const

/** Options of `hostedAuth` that describe a provider. A preset returns them. */
export interface HostedPreset {
  /**
   * `iss` of the tokens, exactly as the provider writes it, including a final slash. A list for a provider with several
   * issuers. `{tenantid}` is replaced by the claim `tid` of the token (Microsoft). With `jwksUrl` an issuer need not be an
   * address.
   */
  readonly issuer: string | readonly string[]
  /** Accepted audiences: the token must name one of them. Optional only with `authorizedParties`. */
  readonly audience?: string | readonly string[]
  /** The claim that names the audience; `aud` by default. */
  readonly audienceClaim?: string
  /** Accepted clients (`azp`). If set, a token without `azp` is refused. */
  readonly authorizedParties?: readonly string[]
  /** Required values of other claims. A list allows each of its values; `null` in the list allows a missing claim. */
  readonly claims?: Readonly<Record<string, string | readonly (string | null)[]>>
  /** Address of the published keys; by default `jwks_uri` of `<issuer>/.well-known/openid-configuration`. */
  readonly jwksUrl?: string
  /** Accepted signature algorithms; by default RS256, ES256 and EdDSA. */
  readonly algorithms?: readonly HostedAlgorithm[]
  /** Accepted `typ` of the header (RFC 8725 §3.11); by default `JWT`, `at+jwt`, or a missing `typ`. */
  readonly types?: readonly string[]
  /** Names of cookies in which the provider keeps its token; by default only the application's own token cookie. */
  readonly cookie?: string | readonly string[]
  /** Tolerated difference to the provider's clock. Seconds or a duration up to 5 minutes; 5 seconds by default. */
  readonly clockTolerance?: Duration
  /** Time limit for fetching the keys. Seconds or a duration; 5 seconds by default. */
  readonly timeout?: Duration
  /** Lifetime of fetched keys. Seconds or a duration; 10 minutes by default. */
  readonly keyLifetime?: Duration
  /** Minimum interval of fetches for unknown keys, after the first three. Seconds or a duration; 5 seconds by default. */
  readonly coolDown?: Duration
}

/** Options of `hostedAuth`. `Raw` is the type of `user.raw`. */
export interface HostedAuthOptions<Raw extends object = Record<string, unknown>> extends HostedPreset {
  /** Converts verified claims to a user, or to null to refuse; by default `sub`, `email` and `name`. */
  readonly toUser?: (claims: Readonly<Record<string, unknown>>) => User<Raw> | null
}
