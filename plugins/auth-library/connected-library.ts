import { ServiceUnavailable, StartupError, type BrickServices, type Credential, type User } from 'mortar'
import type { ConnectedProvider } from '@mortar/auth'
import {
  pathOf,
  requireSignOut,
  signOutOf,
  userIn,
  type AuthLibrary,
  type LibraryUser,
  type RecordOf,
} from './auth-library.ts'
import { SESSION_COOKIES, type LibraryAuthOptions } from './options.ts'

/** A library connected to one application. */
export interface ConnectedLibrary<Raw extends object = Record<string, unknown>> extends ConnectedProvider<
  User<Raw>
> {
  readonly library: AuthLibrary
}

const PRINTABLE = /^[\x21-\x7e]+$/
const RETRY_AFTER = 5

/** Connects the library: prepares it at the start and lets guards query its sessions. */
export function connectLibrary<Library extends AuthLibrary>(
  library: Library,
  basePath: string,
  options: LibraryAuthOptions<Library>,
  services: BrickServices,
): ConnectedLibrary {
  const { cookie = SESSION_COOKIES, toUser = userOf, prepare } = options
  const names = [cookie].flat()
  const signOut = options.signOut === false ? undefined : (options.signOut ?? signOutOf(library))
  return {
    library,
    identify: async (credential) => {
      const headers = headersOf(credential, names)
      const record = headers && userIn(await sessionOf(library, headers))
      // `getSession` returns the library’s own record.
      return record && toUser(record as LibraryUser & RecordOf<Library>)
    },
    ...(signOut && { signOut }),
    start: async () => {
      await requireBasePath(library, basePath)
      if (options.signOut === undefined) await requireSignOut(library)
      await prepare?.(library, services)
    },
  }
}

/**
 * Returns headers with the credential only, so that the library cannot use another one of the request. A bearer token is
 * also sent as the session cookie, since it contains the session unless the library has its own rules for bearer tokens.
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

/** @throws ServiceUnavailable 503 when the library fails. A refused credential gives null. */
async function sessionOf(library: AuthLibrary, headers: Headers): Promise<unknown> {
  try {
    return await library.api.getSession({ headers })
  } catch (cause) {
    const { statusCode } = (cause ?? {}) as { readonly statusCode?: unknown }
    if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) return null
    throw new ServiceUnavailable('Authentication is not available. Try again shortly.', {
      retryAfter: RETRY_AFTER,
      cause,
    })
  }
}

/** An address from the library's own environment variables is known only at this point. */
async function requireBasePath({ $context }: AuthLibrary, basePath: string): Promise<void> {
  const { baseURL } = ((await $context) ?? {}) as { readonly baseURL?: unknown }
  const path = pathOf(baseURL)
  if (path !== undefined && path !== basePath) throw otherBasePath(path, basePath)
}

/** Makes the error for a library whose base path differs from the mounted one. */
export function otherBasePath(own: string, mounted: string): StartupError {
  return new StartupError(
    `The auth library uses the base path '${own}', but libraryAuth() mounts it under '${mounted}'.`,
    {
      code: 'MORTAR_AUTH_BASE_PATH',
      remedy: `Give the library's basePath (or the path of its baseURL) and libraryAuth({ basePath }) the same value.`,
      brick: 'auth',
    },
  )
}

/** Fills `email` only if the library verified it; otherwise the address appears in `raw` only. */
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
