import {
  createRouter,
  defineBrick,
  singleton,
  StartupError,
  type Authenticator,
  type Cradle,
  type Policy,
} from '../../src/index.ts'
import { checkProvider, connectProvider, type AuthProvider, type ProviderSession } from './provider.ts'

/** What `auth()` takes besides the provider. */
export interface AuthOptions {
  /** Policies by name: `auth: 'admin'` on a route asks the policy `admin`. */
  readonly policies?: Readonly<Record<string, Policy>>
  /** Where the provider's endpoints are mounted; `/auth` by default. */
  readonly prefix?: string
  /** Origins besides the application's own whose pages may send unsafe requests with a cookie: `https://app.example.com`. */
  readonly trustedOrigins?: readonly string[]
}

/**
 * The auth brick: gives the application the service `authenticator`, which guards ask, and the provider's endpoints.
 * The provider at work is the service `authProvider`.
 * @throws StartupError `MORTAR_AUTH_PROVIDER` for an object that is no provider, `MORTAR_AUTH_POLICY` for a policy that
 * is no function.
 */
export function auth<Session extends ProviderSession>(
  provider: AuthProvider<Session>,
  options: AuthOptions = {},
) {
  checkProvider(provider)
  checkPolicies(options.policies ?? {})
  return defineBrick({
    name: 'auth',
    after: ['database', 'mail', 'redis'],
    services: {
      // `connectProvider` returns what the provider's own `connect` made.
      authProvider: singleton((services) => connectProvider(provider, services) as Session),
      authenticator: singleton((services) => createAuthenticator(provider, options, services)),
    },
    routes: provider.routes ? [mount(provider, options.prefix ?? '/auth')] : [],
    start: ({ authProvider }) => authProvider.start?.(),
    stop: ({ authProvider }) => authProvider.stop?.(),
  })
}

function createAuthenticator(provider: AuthProvider, options: AuthOptions, services: Cradle): Authenticator {
  const session = services['authProvider'] as ProviderSession
  return {
    identify: (credential, request) => session.identify(credential, request),
    policies: options.policies ?? {},
    trustedOrigins: options.trustedOrigins ?? [],
    securityScheme: provider.securityScheme,
    ...(provider.cookie === undefined ? {} : { cookie: provider.cookie }),
    ...(provider.tables === undefined ? {} : { tables: provider.tables }),
    ...(session.issueToken && { issueToken: (user) => session.issueToken!(user) }),
  }
}

function mount(provider: AuthProvider, prefix: string) {
  const router = createRouter({ prefix })
  for (const child of provider.routes ?? []) router.use(child)
  return router
}

function checkPolicies(policies: Readonly<Record<string, unknown>>): void {
  const wrong = Object.entries(policies).find(([, policy]) => typeof policy !== 'function')
  if (wrong)
    throw new StartupError(`The policy '${wrong[0]}' is not a function but ${typeof wrong[1]}.`, {
      code: 'MORTAR_AUTH_POLICY',
      remedy: 'Write a policy as (user, ctx) => boolean.',
      brick: 'auth',
    })
}
