/** The signed-in user, the same shape whatever provider vouches for it. */
export interface User {
  readonly id: string
  readonly email?: string
  readonly name?: string
  /** The provider's own record of the user (columns, claims), without secrets. */
  readonly raw: Readonly<Record<string, unknown>>
}
