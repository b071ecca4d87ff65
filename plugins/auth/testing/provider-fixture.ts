import type { App, Policy } from 'mortar'
import type { TestClient } from 'mortar/testing'

/** A user who has signed in with the provider. */
export interface SignedInUser {
  readonly userId: string
  /** A credential that the provider accepts. */
  readonly token: string
}

/** Optional capabilities of a provider besides authentication. */
export interface ProviderAbilities {
  readonly routes: boolean
  readonly signOut: boolean
  readonly issueToken: boolean
}

/** A provider and its environment for the suite. Each test makes its own applications. */
export interface ProviderFixture {
  /**
   * An application with the provider's auth brick, these policies, and everything else that the provider needs; not
   * started. Give the brick a short `timeout` when the fixture can `disturb`.
   */
  createApp(policies: Readonly<Record<string, Policy>>): App | Promise<App>
  /** Signs a new user in to that application. */
  signIn(app: App): Promise<SignedInUser>
  /** Invalid credentials: expired, tampered with, foreign, of another kind. */
  readonly invalid: (user: SignedInUser) => readonly string[] | Promise<readonly string[]>
  /** Expected capabilities of the provider. Without this list, the suite tests every capability that it finds. */
  readonly abilities?: ProviderAbilities
  /** Type of the one event with `userId` that a sign-in emits; left out for a provider whose users sign in elsewhere. */
  readonly signInEvent?: string
  /**
   * Makes the dependency that evaluates credentials (a database, a key server, a library) fail or hang from now on.
   * Left out for a provider without such a dependency.
   */
  disturb?(app: App, how: 'throws' | 'hangs'): void | Promise<void>
  /** Closes everything that the fixture has opened besides the application. */
  close?(): void | Promise<void>
}

/** A started application with a signed-in user for one test. */
export interface PreparedProvider {
  readonly app: App
  readonly client: TestClient
  readonly user: SignedInUser
  /** Events of the type `signInEvent` so far. */
  readonly events: readonly object[]
  readonly fixture: ProviderFixture
}
