/** Entry `@mortar/auth-library`: guards use the accounts and sessions of another auth library. */
export { libraryAuth } from './provider.ts'
export type { AuthLibrary } from './auth-library.ts'
export type { LibraryAuthOptions } from './options.ts'
export type { ConnectedLibrary } from './connected-library.ts'
