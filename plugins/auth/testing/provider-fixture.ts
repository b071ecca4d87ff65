import type { App, Policy } from '../../../src/index.ts'
import type { TestClient } from '../../../src/testing/index.ts'

/** Somebody who signed in with the provider. */
export interface SignedInUser {
  readonly userId: string
  /** A credential that the provider accepts. */
  readonly token: string
}

/** What a provider can do besides telling who somebody is. */
export interface ProviderAbilities {
  readonly routes: boolean
  readonly signOut: boolean
  readonly issueToken: boolean
}

/** A provider as the suite needs it. Each test makes its own applications. */
export interface ProviderFixture {
  /**
   * An application with the provider's auth brick, these policies, and whatever else the provider needs; not started.
   * Give the brick a short `timeout` when the fixture can `disturb`.
   */
  createApp(policies: Readonly<Record<string, Policy>>): App | Promise<App>
  /** Signs a new user in to that application. */
  signIn(app: App): Promise<SignedInUser>
  /** Credentials that prove nobody: expired, tampered with, foreign, of another kind. */
  readonly invalid: (user: SignedInUser) => readonly string[] | Promise<readonly string[]>
  /** What the provider is to be able to do; without it the suite tries whatever it finds. */
  readonly abilities?: ProviderAbilities
  /** Type of the one event with `userId` that a sign-in emits; left out for a provider whose users sign in elsewhere. */
  readonly signInEvent?: string
  /**
   * Makes what the provider asks about a credential (a database, a key server, a library) throw, or never answer, from
   * now on. Left out for a provider that asks nobody.
   */
  disturb?(app: App, how: 'throws' | 'hangs'): void | Promise<void>
  /** Throws away what the fixture has opened besides the application. */
  close?(): void | Promise<void>
}

/** A started application with a user who is signed in, as each test gets it. */
export interface PreparedProvider {
  readonly app: App
  readonly client: TestClient
  readonly user: SignedInUser
  /** What was emitted under `signInEvent` so far. */
  readonly events: readonly object[]
  readonly fixture: ProviderFixture
}
