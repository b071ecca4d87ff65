import type { Duration, User } from '../../../src/index.ts'

/** Signatures with a public key; what is signed with a shared secret is nobody's here. */
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

/** Options of `hostedAuth`. A preset returns them for one provider. */
export interface HostedAuthOptions {
  /**
   * `iss` of the tokens, character for character as the provider writes it, a slash at its end included; a list for a
   * provider with several. `{tenantid}` stands for the claim `tid` of the token, as Microsoft writes it. With `jwksUrl` an
   * issuer need not be an address.
   */
  readonly issuer: string | readonly string[]
  /** For whom a token must be meant: one of these. May be left out only where `authorizedParties` is given. */
  readonly audience?: string | readonly string[]
  /** The claim that names the audience; `aud` by default. */
  readonly audienceClaim?: string
  /** Clients that may have asked for the token (`azp`): one of these, and then a token without `azp` is refused. */
  readonly authorizedParties?: readonly string[]
  /** Values that other claims must have; a list allows each of its values, and `null` in it that the claim is missing. */
  readonly claims?: Readonly<Record<string, string | readonly (string | null)[]>>
  /** Where the keys are published; by default as `<issuer>/.well-known/openid-configuration` says. */
  readonly jwksUrl?: string
  /** Signatures that are accepted; by default RS256, ES256 and EdDSA. */
  readonly algorithms?: readonly HostedAlgorithm[]
  /** Kinds of token (`typ` of the header, RFC 8725 §3.11); by default `JWT`, `at+jwt`, or none said. */
  readonly types?: readonly string[]
  /** Names of cookies in which the provider keeps its token; by default only the application's own token cookie. */
  readonly cookie?: string | readonly string[]
  /** How far the provider's clock may be off. Seconds or a duration up to 5 minutes; 5 seconds by default. */
  readonly clockTolerance?: Duration
  /** How long the provider may take to tell its keys. Seconds or a duration; 5 seconds by default. */
  readonly timeout?: Duration
  /** For how long its keys are believed before they are asked for again. Seconds or a duration; 10 minutes by default. */
  readonly keyLifetime?: Duration
  /** How often unknown keys make them be asked for before that, after the first three. Seconds or a duration; 5 seconds by default. */
  readonly coolDown?: Duration
  /** The user that verified claims stand for, or null for nobody; by default `sub`, `email` and `name`. */
  readonly toUser?: (claims: Readonly<Record<string, unknown>>) => User | null
}
