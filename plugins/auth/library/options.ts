import type { Cradle, Size, User } from '../../../src/index.ts'
import type { AuthLibrary, LibraryUser } from './auth-library.ts'

/** Options of `libraryAuth`. */
export interface LibraryAuthOptions<Library extends AuthLibrary = AuthLibrary> {
  /**
   * The path under which the library answers, and where its routes are mounted; by default what the instance says of
   * itself, and `/api/auth` for one that is made later.
   */
  readonly basePath?: string
  /** Names of the library's session cookie; by default better-auth's, with and without `__Secure-`. */
  readonly cookie?: string | readonly string[]
  /** Runs when the application starts and before it listens: the place to create the library's tables. */
  readonly prepare?: (library: Library, services: Cradle) => unknown
  /** Ends every session of a user; by default as better-auth does it, `false` for a library that cannot. */
  readonly signOut?: false | ((userId: string) => Promise<void>)
  /** Largest body that the library's routes take. Bytes or a size; 1 MiB by default. */
  readonly bodyLimit?: Size
  /** The user that the library's record stands for; by default its `id`, `email` and `name`, and all of it in `raw`. */
  readonly toUser?: (record: LibraryUser) => User
}

/** better-auth's; over https it has the prefix. */
export const SESSION_COOKIES = ['__Secure-better-auth.session_token', 'better-auth.session_token'] as const
