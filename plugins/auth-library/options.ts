import type { BrickServices, Size, User } from 'mortar'
import type { AuthLibrary, RecordOf } from './auth-library.ts'

/** Options of `libraryAuth`. `Raw` is the type of `user.raw`. */
export interface LibraryAuthOptions<
  Library extends AuthLibrary = AuthLibrary,
  Raw extends object = Record<string, unknown>,
> {
  /**
   * Base path of the library's routes. Defaults to the instance's own setting, and to `/api/auth` for an instance that is
   * made later.
   */
  readonly basePath?: string
  /** Names of the library's session cookie; by default better-auth's, with and without `__Secure-`. */
  readonly cookie?: string | readonly string[]
  /** Runs when the application starts and before it listens: the place to create the library's tables. */
  readonly prepare?: (library: Library, services: BrickServices) => unknown
  /** Ends every session of a user; by default as better-auth does it, `false` for a library that cannot. */
  readonly signOut?: false | ((userId: string) => Promise<void>)
  /** Largest body of the library's routes. Bytes or a size; 1 MiB by default. */
  readonly bodyLimit?: Size
  /** Converts the library's record to a user; by default its `id`, `email` and `name`, with the record as `raw`. */
  readonly toUser?: (record: RecordOf<Library>) => User<Raw>
}

/** Names of better-auth; over https they have the prefix. */
export const SESSION_COOKIES = ['__Secure-better-auth.session_token', 'better-auth.session_token'] as const
