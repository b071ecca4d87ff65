import type { User } from './user.ts'

/** A credential as it was presented, and where: header over cookie over query, first found wins. */
export interface Credential {
  readonly token: string
  readonly source: 'header' | 'cookie' | 'query'
}

/** What a provider may look at besides the credential. Header names are lower-case. */
export interface CredentialRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly ip: string
  readonly signal: AbortSignal
}

/** An OpenAPI 3.1 security scheme object and the name it gets in the document. */
export interface SecurityScheme {
  readonly name: string
  readonly scheme: Readonly<Record<string, unknown>>
}

/**
 * The service `authenticator`, which the guard asks; a brick provides it.
 * The core never looks inside a credential.
 */
export interface Authenticator {
  /**
   * @returns the user whom the credential proves, or null when it proves nobody.
   * A synchronous answer keeps the request synchronous. A throw means "cannot be evaluated": a guarded route refuses.
   */
  identify(credential: Credential, request: CredentialRequest): User | null | Promise<User | null>
  /** Policies by name; `auth: 'name'` on a route refers to one. */
  readonly policies: Readonly<Record<string, Policy>>
  /** Names of cookies that may carry the credential, besides the application's own setting; the first found wins. */
  readonly cookie?: string | readonly string[]
  /** Origins besides the application's own whose pages may send unsafe requests with a cookie credential. */
  readonly trustedOrigins?: readonly string[]
  readonly securityScheme: SecurityScheme
  /** A credential of this user, for providers that sign their own; `signedIn` of the testing kit uses it. */
  issueToken?(user: User): string | Promise<string>
}

/** What a policy sees of the request: parameters are the raw strings of the path, as validation comes later. */
export interface PolicyContext {
  readonly params: Readonly<Record<string, string>>
  readonly method: string
  readonly path: string
  readonly [member: string]: unknown
}

/** Decides whether a signed-in user may pass. Anything but `true` is a 403 that names the policy. */
export type Policy = (user: User, ctx: PolicyContext) => boolean | Promise<boolean>
