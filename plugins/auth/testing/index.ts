/** The contract suites of user stores and of auth providers: `@mortar/auth/testing`. */
export { providerSuite } from './provider-suite.ts'
export type { ProviderAbilities, ProviderFixture, SignedInUser } from './provider-fixture.ts'
export { totpCode } from './totp-code.ts'
export { SoftAuthenticator } from './soft-authenticator.ts'
export type { SoftChanges, SoftCreation, SoftRequest } from './soft-authenticator.ts'
export { authStoreSuite } from './store-suite.ts'
export type { OpenStore } from './store-suite.ts'
