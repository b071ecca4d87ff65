/** Another library's accounts and sessions behind the application's guards: `mortar/auth/library`. */
export { libraryAuth } from './provider.ts'
export type { AuthLibrary } from './auth-library.ts'
export type { LibraryAuthOptions } from './options.ts'
export type { ConnectedLibrary } from './connected-library.ts'
