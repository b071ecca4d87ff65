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
  /** The provider's own record of the user (columns, claims), without secrets. */
  readonly raw: Readonly<Raw>
}
