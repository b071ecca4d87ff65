import type { EventBus, Policy, User } from 'mortar'
import type { AccessClaims } from './tokens/access-tokens.ts'
import type { CookieTarget, Headers } from './cookies/refresh-cookie.ts'
import type { DeviceCookie } from './cookies/device-cookie.ts'
import type { AuthEvents } from './events/events.ts'
import type { ConnectedFeature, FeaturePolicy } from './features/feature.ts'
import type { AuthFlows } from './flows/flows.ts'
import type { Grant } from './flows/sessions.ts'
import type { ConnectedProvider } from './provider.ts'

/** A provider with e-mail and password, connected to one application: the service `authProvider`. */
export interface ConnectedPasswordProvider<
  Raw extends object = Record<string, unknown>,
> extends ConnectedProvider<User<Raw>> {
  readonly flows: AuthFlows
  /** The features of the option `features`, by name. */
  readonly features: ReadonlyMap<string, ConnectedFeature>
  readonly policies: FeaturePolicies
  readonly events: EventBus<AuthEvents>
  readonly cookie: SessionCookie
  readonly device: DeviceCookie
  /** Origin of the application's own pages, if it is configured. */
  readonly appOrigin: string | undefined
  /** @returns the claims of a currently valid access token, or null. */
  claimsOf(accessToken: string | null): AccessClaims | null
  watch: NonNullable<ConnectedProvider['watch']>
  /**
   * Creates an account without HTTP, for seeds and tests: with the rules of signup, and without its limits, its event
   * and a session. `fields` sets columns of the application, such as a role.
   * @throws ValidationFailed with the issues of signup, Conflict `email_taken`.
   */
  createUser(user: {
    readonly name: string
    readonly email: string
    readonly password: string
    readonly fields?: Readonly<Record<string, unknown>>
  }): Promise<User>
  /**
   * Creates an account without a password, and mails a link that sets one within seven days.
   * @throws ValidationFailed with the issues of signup, Conflict `email_taken`.
   */
  invite(user: {
    readonly name: string
    readonly email: string
    readonly fields?: Readonly<Record<string, unknown>>
  }): Promise<User>
  /**
   * Verifies the password of a user before a sensitive operation. Failures count with those of change-password.
   * @throws LimitReached (429), ServiceUnavailable if too many hashes wait.
   */
  verifyPassword(user: Pick<User, 'id'>, password: string): Promise<boolean>
  signOut(userId: string): Promise<void>
  /**
   * Disables an account: login, refresh and reset tokens are refused, and every session ends.
   * @returns false for an unknown user.
   */
  disable(userId: string): Promise<boolean>
  /** Lets a disabled account log in again. @returns false for an unknown user. */
  enable(userId: string): Promise<boolean>
  /**
   * Deletes an account with its sessions and the rows of every feature, on each store. A call that failed may be repeated.
   * @returns false for an unknown user.
   */
  deleteUser(userId: string): Promise<boolean>
}

/** Policies of features, for `auth` on a route. Each exists with its feature alone. */
export type FeaturePolicies = Readonly<Partial<Record<FeaturePolicy, Policy>>>

/** The refresh cookie, with the lifetime of its session. */
export interface SessionCookie {
  read(headers: Headers): string | null
  set(ctx: CookieTarget, grant: Grant): void
  clear(ctx: CookieTarget): void
}
