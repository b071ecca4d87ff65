/** The signed-in user, the same shape for every provider. */
export interface User {
  readonly id: string
  readonly email?: string
  /**
   * True when the user has proven that `email` is theirs. The providers of this package always say it; a user without it
   * counts as not proven.
   */
  readonly emailVerified?: boolean
  readonly name?: string
  /** The provider's own record of the user (columns, claims), without secrets. */
  readonly raw: Readonly<Record<string, unknown>>
}
