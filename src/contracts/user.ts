/** The session, or another credential, that signed a user in. */
export interface UserSession {
  readonly id: string
  /**
   * The moment at which the user last proved who he is, in milliseconds since the epoch. A refresh does not change it.
   * Missing if the credential does not tell it.
   */
  readonly authenticatedAt?: number
  /** The proofs of that moment, named as in RFC 8176: `pwd` is a password. Empty if the credential does not tell them. */
  readonly methods: readonly string[]
}

/**
 * The signed-in user, the same shape for every provider. `Raw` is the provider's own record, where its columns or claims
 * are declared.
 */
export interface User<Raw extends object = Record<string, unknown>> {
  readonly id: string
  readonly email?: string
  /**
   * True if the user has proven to own `email`. The providers of this package always set it; a missing value counts as
   * false.
   */
  readonly emailVerified?: boolean
  readonly name?: string
  /** The session of the request, from providers that have sessions. */
  readonly session?: UserSession
  /** The provider's own record of the user (columns, claims), without secrets. */
  readonly raw: Readonly<Raw>
}
