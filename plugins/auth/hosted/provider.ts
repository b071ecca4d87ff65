import type { Cradle, User } from '../../../src/index.ts'
import type { AuthProvider, ProviderSession } from '../provider.ts'
import { loadKeys } from './load-keys.ts'
import type { HostedAuthOptions } from './options.ts'
import { createPublishedKeys } from './published-keys.ts'
import { requireHttps, resolveSettings, type HostedSettings } from './settings.ts'
import { verifyToken, type Claims } from './verify-token.ts'

/**
 * The provider for people who sign in somewhere else (Clerk, Auth0, Firebase, Supabase, Cognito, Keycloak, any OpenID
 * Connect server): verifies the tokens that are made there, mounts nothing and stores nothing.
 * @throws StartupError `MORTAR_AUTH_ISSUER` for an address that cannot be used, `MORTAR_AUTH_AUDIENCE` when any
 * application's tokens would do, `MORTAR_AUTH_OPTION` for another option.
 */
export function hostedAuth(options: HostedAuthOptions): AuthProvider {
  const settings = resolveSettings(options)
  const { cookie, toUser = userOf } = options
  return {
    name: 'hosted',
    securityScheme: {
      name: 'accessToken',
      scheme: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: `A token of ${settings.issuer}`,
      },
    },
    ...(cookie === undefined ? {} : { cookie }),
    connect: (services) => connect(settings, toUser, services),
  }
}

function connect(
  settings: HostedSettings,
  toUser: (claims: Claims) => User | null,
  { clock, environment }: Cradle,
): ProviderSession {
  requireHttps(settings, environment)
  const location = { ...settings, httpsOnly: environment === 'production' }
  const keys = createPublishedKeys({
    load: (signal) => loadKeys(location, signal),
    clock,
    timeout: settings.timeout,
    lifetime: settings.keyLifetime,
    coolDown: settings.coolDown,
  })
  return {
    identify: async ({ token }) => {
      const claims = await verifyToken(token, { settings, keys, clock })
      return claims && toUser(claims)
    },
    stop: () => keys.close(),
  }
}

/** An address that the provider says is not verified could be anybody's, so it is in `raw` only. */
function userOf(claims: Claims): User {
  const { sub, email, email_verified: verified, name } = claims
  return {
    id: sub,
    ...(typeof email === 'string' && verified !== false && { email }),
    ...(typeof name === 'string' && { name }),
    raw: claims,
  }
}
