import type { Cradle, User } from 'mortar'
import type { AuthProvider, ConnectedProvider } from '@mortar/auth'
import { asvsOfProvider, type RawRecord } from '@mortar/auth/provider'
import { loadJose } from './jose.ts'
import { loadKeys } from './load-keys.ts'
import { checkHostedOptions } from './option-rules.ts'
import type { HostedAuthOptions } from './options.ts'
import { createPublishedKeys, type PublishedKeys } from './published-keys.ts'
import { requireHttps, resolveSettings, type HostedSettings } from './settings.ts'
import { verifyToken, type Claims } from './verify-token.ts'
import { watchExpiry } from './watch-expiry.ts'

/**
 * Provider for users who sign in elsewhere (Clerk, Auth0, Firebase, Supabase, Cognito, Keycloak, any OpenID Connect
 * server). It verifies their tokens, mounts no routes and stores nothing. `hostedAuth<{ org_id?: string }>({ … })` types
 * `user.raw` with the claims that the provider writes; `toUser` types it by its result.
 * @throws StartupError `MORTAR_AUTH_ISSUER` for an unusable address, `MORTAR_AUTH_AUDIENCE` if tokens of any application
 * would be accepted, `MORTAR_AUTH_OPTION` for another option.
 */
export function hostedAuth<Raw extends object = Record<string, unknown>>(
  options: HostedAuthOptions<Raw>,
): AuthProvider<ConnectedProvider<User<RawRecord<Raw>>>> {
  checkHostedOptions(options)
  const settings = resolveSettings(options)
  const withIssuer = hasSeveralProviders(settings)
  const { cookie, toUser = (claims: Claims) => userOf(claims, withIssuer) } = options
  const provider: AuthProvider = {
    name: 'hosted',
    peers: { from: import.meta.url, packages: ['@mortar/auth'] },
    securityScheme: {
      name: 'accessToken',
      scheme: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: `A token of ${settings.issuers.join(' or ')}`,
      },
    },
    ...(cookie === undefined ? {} : { cookie }),
    doctor: () => [asvsOfProvider('hosted', 'hostedAuth() meets V9.')],
    connect: (services) => connect(settings, toUser, services),
  }
  // `raw` is the result of `toUser`, or the claims of the provider, whose types the application knows.
  return provider as AuthProvider<ConnectedProvider<User<RawRecord<Raw>>>>
}

function connect(
  settings: HostedSettings,
  toUser: (claims: Claims) => User | null,
  { clock, environment }: Cradle,
): ConnectedProvider {
  requireHttps(settings, environment)
  const { jwksUrl, timeout, keyLifetime: lifetime, coolDown } = settings
  const httpsOnly = environment === 'production'
  const keysOf = (issuer: string): PublishedKeys =>
    createPublishedKeys({
      load: (signal) => loadKeys({ issuer, jwksUrl, httpsOnly }, signal),
      clock,
      timeout,
      lifetime,
      coolDown,
    })
  // With one key address all issuers share its keys. Otherwise each has its own, and a key never signs for another issuer.
  const shared = jwksUrl === undefined ? undefined : keysOf(settings.issuers[0]!)
  const keys = new Map(settings.issuers.map((issuer) => [issuer, shared ?? keysOf(issuer)]))
  return {
    identify: async ({ token }) => {
      const claims = await verifyToken(token, { settings, keys, clock })
      return claims && toUser(claims)
    },
    watch: watchExpiry(clock, settings.clockTolerance),
    start: loadJose,
    stop: () => {
      for (const each of keys.values()) each.close()
    },
  }
}

/** Issuers with separate keys are different providers and may use one `sub` for different people (ASVS 6.8.1). */
function hasSeveralProviders({ issuers, jwksUrl }: HostedSettings): boolean {
  return issuers.length > 1 && jwksUrl === undefined
}

/**
 * Makes the user of verified claims. With several providers the id is `<iss>#<sub>`, which is unambiguous because an issuer
 * has no fragment. `email` is filled only if the provider verified it; otherwise it appears in `raw` only.
 */
function userOf(claims: Claims, withIssuer: boolean): User {
  const { iss, sub, email, name } = claims
  const emailVerified = claims['email_verified'] === true && typeof email === 'string'
  return {
    id: withIssuer ? `${String(iss)}#${sub}` : sub,
    ...(emailVerified && { email }),
    emailVerified,
    ...(typeof name === 'string' && { name }),
    raw: claims,
  }
}
