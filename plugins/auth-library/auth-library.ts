import { StartupError } from 'mortar'
import { installed } from 'mortar/kit'
import type { ConnectedProvider } from '@mortar/auth'

/**
 * The part of an auth library that is used: the shape of a better-auth instance or of a wrapper with the same shape.
 * The library itself is not imported.
 */
export interface AuthLibrary {
  /** Handles a request for one of the library's own routes. */
  handler(request: Request): Promise<Response>
  readonly api: {
    /** @returns `{ user: { id, email?, name? … } }` of the session in these headers, or null. */
    getSession(input: { headers: Headers }): Promise<unknown>
  }
  /** The library's own settings; only `basePath` and `baseURL` are read. */
  readonly options?: object
  /** The library's resolved context; only `baseURL` and `internalAdapter.deleteUserSessions` are used. */
  readonly $context?: PromiseLike<object>
}

/** A user record of the library. */
export type LibraryUser = Readonly<Record<string, unknown>> & { readonly id: string }

type SessionUser<Session> = Session extends { readonly user: infer Found } ? Found : never

/** The user record of a library, as the type of its `getSession` declares it. */
export type RecordOf<Library extends AuthLibrary> =
  SessionUser<Awaited<ReturnType<Library['api']['getSession']>>> extends infer Found
    ? [Found] extends [never]
      ? LibraryUser
      : { readonly [Name in keyof Found]: Found[Name] }
    : never

/** better-auth's default base path. */
const DEFAULT_BASE_PATH = '/api/auth'

/** Returns the base path of a library: the path of its `baseURL` if it has one, else its `basePath`. */
export function basePathOf({ options = {} }: Pick<AuthLibrary, 'options'>): string {
  const { baseURL, basePath } = options as { readonly baseURL?: unknown; readonly basePath?: unknown }
  const own = pathOf(baseURL)
  if (own !== undefined) return own
  return typeof basePath === 'string' && basePath !== '' ? basePath : DEFAULT_BASE_PATH
}

/** Returns the path of an address; undefined for an address without a path and for an invalid address. */
export function pathOf(address: unknown): string | undefined {
  if (typeof address !== 'string' || !URL.canParse(address)) return undefined
  const path = new URL(address).pathname.replace(/\/+$/, '')
  return path === '' ? undefined : path
}

/** Returns the user in a result of `getSession`, or null. */
export function userIn(session: unknown): LibraryUser | null {
  const { user } = (session ?? {}) as { readonly user?: unknown }
  const { id } = (user ?? {}) as { readonly id?: unknown }
  return typeof id === 'string' && id !== '' ? (user as LibraryUser) : null
}

/** Returns the library's function that ends every session of a user, or undefined if it has none. */
export function signOutOf({ $context }: AuthLibrary): ConnectedProvider['signOut'] {
  if ($context === undefined) return undefined
  return async (userId) => {
    const { internalAdapter } = (await $context) as LibraryContext
    await internalAdapter!.deleteUserSessions!(userId)
  }
}

/** @throws StartupError for a library without the function that `signOutOf` calls. */
export async function requireSignOut({ $context }: AuthLibrary): Promise<void> {
  const { internalAdapter } = ((await $context) ?? {}) as LibraryContext
  if (typeof internalAdapter?.deleteUserSessions === 'function') return
  throw new StartupError(
    'The auth library has no `$context.internalAdapter.deleteUserSessions`, which ends the sessions of a user. ' +
      `${installed('better-auth', import.meta.url)} is installed.`,
    {
      code: 'MORTAR_AUTH_PROVIDER',
      remedy: 'Pass the function as libraryAuth({ signOut }), or signOut: false for a library that cannot.',
      brick: 'auth',
    },
  )
}

interface LibraryContext {
  readonly internalAdapter?: { deleteUserSessions?(userId: string): Promise<unknown> }
}
