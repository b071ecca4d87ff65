import { StartupError, type BrickServices, type Size } from 'mortar'
import { bytes, checkOptions, type OptionChecks } from 'mortar/kit'
import type { AuthProvider } from '@mortar/auth'
import { refuseFeatures, type RawRecord } from '@mortar/auth/provider'
import { basePathOf, type AuthLibrary, type RecordOf } from './auth-library.ts'
import { SESSION_COOKIES, type LibraryAuthOptions } from './options.ts'
import { libraryRoutes } from './routes.ts'
import { connectLibrary, otherBasePath, type ConnectedLibrary } from './connected-library.ts'

const LIBRARY_RULES: OptionChecks<LibraryAuthOptions>['keys'] = {
  basePath: 'string',
  cookie: ['string', 'strings'],
  prepare: 'function',
  signOut: ['function', 'false'],
  bodyLimit: ['number', 'string'],
  toUser: 'function',
}

/**
 * Provider for an application whose accounts are in a library such as better-auth. The library's routes are mounted under
 * its base path, and its sessions satisfy guards, by cookie or as bearer token. `instance` may be a function that
 * makes the library from the application's services, such as `db`. `user.raw` has the type of the library's user, or of
 * the result of `toUser`.
 * @throws StartupError `MORTAR_AUTH_PROVIDER` for a value that is not such a library, `MORTAR_AUTH_BASE_PATH` naming both
 * paths when they differ, `MORTAR_AUTH_OPTION` for an invalid size.
 */
export function libraryAuth<Library extends AuthLibrary, Raw extends object = RecordOf<Library>>(
  instance: Library | ((services: BrickServices) => Library),
  options: LibraryAuthOptions<Library, Raw> = {},
): AuthProvider<ConnectedLibrary<RawRecord<Raw>>> {
  refuseFeatures(options, { of: 'libraryAuth()', where: 'the library manages accounts and sessions' })
  checkOptions(options, { of: 'libraryAuth()', brick: 'auth', keys: LIBRARY_RULES })
  const library = typeof instance === 'function' ? undefined : checked(instance)
  const basePath = trimmed(options.basePath ?? basePathOf(library ?? {}))
  if (library) requireSamePath(library, basePath)
  const provider: AuthProvider<ConnectedLibrary> = {
    name: 'library',
    peers: { from: import.meta.url, packages: ['@mortar/auth'] },
    basePath,
    capabilities: { routes: true, signOut: options.signOut !== false },
    cookie: options.cookie ?? SESSION_COOKIES,
    securityScheme: { name: 'session', scheme: { type: 'http', scheme: 'bearer' } },
    routes: [libraryRoutes(limitOf(options.bodyLimit ?? '1mb'))],
    connect: (services) => {
      const connected = library ?? checked((instance as (services: BrickServices) => Library)(services))
      requireSamePath(connected, basePath)
      return connectLibrary(connected, basePath, options as LibraryAuthOptions<Library>, services)
    },
  }
  // `raw` is the result of `toUser`, or the record of the library.
  return provider as AuthProvider<ConnectedLibrary<RawRecord<Raw>>>
}

function checked<Library extends AuthLibrary>(instance: Library): Library {
  // A caller in JavaScript may pass any value.
  const { handler, api } = (instance ?? {}) as Partial<AuthLibrary>
  if (typeof handler === 'function' && typeof api?.getSession === 'function') return instance
  throw new StartupError(
    `libraryAuth() needs an auth library, and its argument has no ${typeof handler === 'function' ? 'api.getSession' : 'handler'}.`,
    {
      code: 'MORTAR_AUTH_PROVIDER',
      remedy: `Pass the result of betterAuth({ … }), or an object with 'handler' and 'api.getSession' of the type AuthLibrary.`,
      brick: 'auth',
    },
  )
}

function requireSamePath(library: AuthLibrary, basePath: string): void {
  const own = trimmed(basePathOf(library))
  if (library.options !== undefined && own !== basePath) throw otherBasePath(own, basePath)
}

function trimmed(path: string): string {
  return path.replace(/\/+$/, '')
}

function limitOf(limit: Size): number {
  try {
    return bytes(limit)
  } catch (cause) {
    throw new StartupError(`The option bodyLimit of libraryAuth() is '${limit}', which is not a size.`, {
      code: 'MORTAR_AUTH_OPTION',
      remedy: `Write bytes, or a size such as '1mb'.`,
      brick: 'auth',
      cause,
    })
  }
}
