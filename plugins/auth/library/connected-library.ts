import {
  ServiceUnavailable,
  StartupError,
  type Cradle,
  type Credential,
  type User,
} from '../../../src/index.ts'
import type { ConnectedProvider } from '../provider.ts'
import { pathOf, signOutOf, userIn, type AuthLibrary, type LibraryUser } from './auth-library.ts'
import { SESSION_COOKIES, type LibraryAuthOptions } from './options.ts'

/** A library at work in one application. */
export interface ConnectedLibrary extends ConnectedProvider {
  readonly library: AuthLibrary
}

const PRINTABLE = /^[\x21-\x7e]+$/
const RETRY_AFTER = 5

/** Lets guards ask the library, and the library be prepared at the start. */
export function connectLibrary<Library extends AuthLibrary>(
  library: Library,
  basePath: string,
  options: LibraryAuthOptions<Library>,
  services: Cradle,
): ConnectedLibrary {
  const { cookie = SESSION_COOKIES, toUser = userOf, prepare } = options
  const names = [cookie].flat()
  const signOut = options.signOut === false ? undefined : (options.signOut ?? signOutOf(library))
  return {
    library,
    identify: async (credential) => {
      const headers = headersOf(credential, names)
      const record = headers && userIn(await sessionOf(library, headers))
      return record && toUser(record)
    },
    ...(signOut && { signOut }),
    start: async () => {
      await requireBasePath(library, basePath)
      await prepare?.(library, services)
    },
  }
}

/**
 * The credential and nothing else of the request, so that what was found first is what counts. A bearer token is shown
 * as the session cookie as well: that is what it is, unless the library has rules of its own for bearer tokens.
 */
function headersOf({ token, source }: Credential, names: readonly string[]): Headers | null {
  if (!PRINTABLE.test(token)) return null
  const value = encodeURIComponent(decoded(token))
  const headers = new Headers({ cookie: names.map((name) => `${name}=${value}`).join('; ') })
  if (source !== 'cookie') headers.set('authorization', `Bearer ${token}`)
  return headers
}

/** A cookie is percent-encoded; a bearer token may be. */
function decoded(token: string): string {
  try {
    return decodeURIComponent(token)
  } catch {
    return token
  }
}

/** @throws ServiceUnavailable 503 when the library fails; what it refuses is nobody's. */
async function sessionOf(library: AuthLibrary, headers: Headers): Promise<unknown> {
  try {
    return await library.api.getSession({ headers })
  } catch (cause) {
    const { statusCode } = (cause ?? {}) as { readonly statusCode?: unknown }
    if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) return null
    throw new ServiceUnavailable('Who you are cannot be found out now.', { retryAfter: RETRY_AFTER, cause })
  }
}

/** An address from the library's own environment variables is known only now. */
async function requireBasePath({ $context }: AuthLibrary, basePath: string): Promise<void> {
  const { baseURL } = ((await $context) ?? {}) as { readonly baseURL?: unknown }
  const path = pathOf(baseURL)
  if (path !== undefined && path !== basePath) throw otherBasePath(path, basePath)
}

/** What libraryAuth() says when the library answers somewhere else than where it is mounted. */
export function otherBasePath(own: string, mounted: string): StartupError {
  return new StartupError(
    `The auth library answers under '${own}', and libraryAuth() is to mount it under '${mounted}'.`,
    {
      code: 'MORTAR_AUTH_BASE_PATH',
      remedy: `Give the library's basePath (or the path of its baseURL) and libraryAuth({ basePath }) the same value.`,
      brick: 'auth',
    },
  )
}

/** An address could be anybody's unless the library says that it is verified; otherwise it is in `raw` only. */
function userOf(record: LibraryUser): User {
  const { id, email, name } = record
  const emailVerified = record['emailVerified'] === true && typeof email === 'string'
  return {
    id,
    ...(emailVerified && { email }),
    emailVerified,
    ...(typeof name === 'string' && { name }),
    raw: record,
  }
}
