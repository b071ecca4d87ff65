import type { BrickServices } from './services.ts'
import type { User } from './user.ts'

/** A credential and its location. The header has precedence over the cookie, and the cookie over the query. */
export interface Credential {
  readonly token: string
  readonly source: 'header' | 'cookie' | 'query'
}

/** Parts of the request that a provider may read besides the credential. Header names are lower-case. */
export interface CredentialRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly ip: string
  readonly signal: AbortSignal
}

/** An OpenAPI 3.1 security scheme object and its name in the document. */
export interface SecurityScheme {
  readonly name: string
  readonly scheme: Readonly<Record<string, unknown>>
}

/**
 * The service `authenticator`, which the guard calls; a brick provides it. The core never parses a credential. `Policies`
 * are the names of its policies and `SignedIn` is the type of its users; routes of the application are typed with both.
 */
export interface Authenticator<Policies extends string = string, SignedIn extends User<object> = User> {
  /**
   * @returns the user that the credential authenticates, or null for an invalid credential. A synchronous result keeps
   * the request synchronous. An error means that the credential cannot be evaluated, and a guarded route refuses.
   */
  identify(credential: Credential, request: CredentialRequest): SignedIn | null | Promise<SignedIn | null>
  /**
   * Calls `onEnd` once when the credential ends: when its session ends in any process, and when it expires and no session
   * continues it. The core calls it for a response that is a stream of a guarded route, and stops by the returned
   * function when the response is over. Without it such a response lives as long as its client reads.
   */
  watch?(credential: Credential, request: CredentialRequest, onEnd: () => void): () => void
  /** Policies by name; `auth: 'name'` on a route refers to one. */
  readonly policies: Readonly<Record<Policies, Policy>>
  /** Names of cookies that may carry the credential, besides the application's own setting; the first found wins. */
  readonly cookie?: string | readonly string[]
  /** Origins besides the application's own whose pages may send unsafe requests with a cookie credential. */
  readonly trustedOrigins?: readonly string[]
  readonly securityScheme: SecurityScheme
  /**
   * Issues a credential of this user, for providers that sign their own tokens. `signedIn` of the testing kit uses it.
   */
  issueToken?(user: User): string | Promise<string>
}

/**
 * Types of the members of `ctx` that bricks add, for policies, which do not know their application. A brick adds its own
 * where it is declared: `declare module 'mortar' { interface KnownMembers { now: Date } }`.
 */
export interface KnownMembers {}

/**
 * The part of the request that a policy receives, with the members of bricks. Parameters are raw strings of the path,
 * because validation comes later.
 */
export interface PolicyContext extends KnownMembers {
  readonly params: Readonly<Record<string, string>>
  readonly method: string
  readonly path: string
  /** Services by name, those in `KnownServices` with their types. */
  readonly services: BrickServices
  readonly [member: string]: unknown
}

/** Decides whether a signed-in user may pass. Any result but `true` is a 403 that names the policy. */
export type Policy<SignedIn extends User<object> = User> = (
  user: SignedIn,
  ctx: PolicyContext,
) => boolean | Promise<boolean>

/** The users of an application with these services, as its service `authenticator` declares them. */
export type SignedInUser<Services> = Services extends {
  readonly authenticator: { readonly identify: (...input: never[]) => infer Found }
}
  ? Exclude<Awaited<Found>, null>
  : User

/** The names of an application's policies, as its service `authenticator` declares them; else `string`. */
export type PolicyNames<Services> = Services extends {
  readonly authenticator: { readonly policies: infer Policies }
}
  ? keyof Policies & string
  : string
