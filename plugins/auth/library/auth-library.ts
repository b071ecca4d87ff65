import type { ConnectedProvider } from '../provider.ts'

/**
 * What is used of an auth library: the shape of a better-auth instance, and of whatever is wrapped to look like one.
 * Nothing of the library is imported here.
 */
export interface AuthLibrary {
  /** Answers a request for one of the library's own routes. */
  handler(request: Request): Promise<Response>
  readonly api: {
    /** @returns `{ user: { id, email?, name? … } }` of the session that these headers carry, or null. */
    getSession(input: { headers: Headers }): Promise<unknown>
  }
  /** The library's own settings; `basePath` and `baseURL` of them are read. */
  readonly options?: object
  /** What the library works out of its settings; `baseURL` and `internalAdapter.deleteUserSessions` of it are used. */
  readonly $context?: PromiseLike<object>
}

/** A record of the library's user. */
export type LibraryUser = Readonly<Record<string, unknown>> & { readonly id: string }

/** Where better-auth answers when it is told nothing else. */
const DEFAULT_BASE_PATH = '/api/auth'

/** The path under which a library answers: that of its `baseURL` if that has one, else its `basePath`. */
export function basePathOf({ options = {} }: Pick<AuthLibrary, 'options'>): string {
  const { baseURL, basePath } = options as { readonly baseURL?: unknown; readonly basePath?: unknown }
  const own = pathOf(baseURL)
  if (own !== undefined) return own
  return typeof basePath === 'string' && basePath !== '' ? basePath : DEFAULT_BASE_PATH
}

/** The path of an address; undefined for an address without one, and for anything that is no address. */
export function pathOf(address: unknown): string | undefined {
  if (typeof address !== 'string' || !URL.canParse(address)) return undefined
  const path = new URL(address).pathname.replace(/\/+$/, '')
  return path === '' ? undefined : path
}

/** The user of what `getSession` answered, or null. */
export function userIn(session: unknown): LibraryUser | null {
  const { user } = (session ?? {}) as { readonly user?: unknown }
  const { id } = (user ?? {}) as { readonly id?: unknown }
  return typeof id === 'string' && id !== '' ? (user as LibraryUser) : null
}

/** How a library ends every session of a user, or undefined for one that does not tell. */
export function signOutOf({ $context }: AuthLibrary): ConnectedProvider['signOut'] {
  if ($context === undefined) return undefined
  return async (userId) => {
    const { internalAdapter } = (await $context) as {
      readonly internalAdapter: { deleteUserSessions(userId: string): Promise<unknown> }
    }
    await internalAdapter.deleteUserSessions(userId)
  }
}
