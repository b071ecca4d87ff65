import type * as OpenidClient from 'openid-client'
import { ignore, inCauses } from 'mortar/kit'
import { LOADING_DELAY } from '../../password-packages.ts'
import { isThisMachine, type Identity, type SocialProvider } from './providers.ts'

/** Seconds that a request to a provider may take. */
const TIMEOUT = 8
/** Most characters of a response of a provider that is not of OpenID Connect. */
const MOST_CHARACTERS = 200_000

/** Values that an authorization request and its callback have in common. */
export interface AuthorizationAttempt {
  readonly state: string
  readonly verifier: string
  readonly nonce: string
}

/** A provider, for one application. */
export interface ConnectedProvider {
  /** @returns the address of the provider's page. @throws ProviderFailure. */
  authorize(attempt: AuthorizationAttempt): Promise<URL>
  /** Exchanges the code of a callback, and checks everything that it brings. @throws ProviderFailure. */
  identify(query: string, attempt: AuthorizationAttempt): Promise<Identity>
}

/** A sign-in that a provider did not complete. Its message has no secret. */
export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure'
  readonly code: 'access_denied' | 'provider_unavailable' | 'sign_in_failed'

  constructor(code: ProviderFailure['code'], cause: unknown) {
    super(reasonOf(cause), { cause })
    this.code = code
  }
}

/** Connects a provider. Its configuration is loaded for the first sign-in, and kept once that has succeeded. */
export function connectProvider(provider: SocialProvider, redirectUri: string): ConnectedProvider {
  // Node keeps the failure of an import, so it does not wait for a sign-in, which may find no file descriptor.
  setTimeout(() => void import('openid-client').catch(ignore), LOADING_DELAY).unref()
  let loading: Promise<OpenidClient.Configuration> | undefined
  const configuration = () =>
    (loading ??= configure(provider).catch((error: unknown) => {
      loading = undefined
      throw error
    }))
  const { scope, parameters, acr } = provider
  return {
    authorize: ({ state, verifier, nonce }) =>
      explained(async () => {
        const client = await import('openid-client')
        return client.buildAuthorizationUrl(await configuration(), {
          redirect_uri: redirectUri,
          scope,
          state,
          code_challenge: await client.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
          ...(provider.plain === undefined && { nonce }),
          ...(acr !== undefined && { acr_values: acr }),
          ...parameters,
        })
      }),
    identify: (query, attempt) =>
      explained(async () => {
        const callback = new URL(redirectUri)
        callback.search = query
        const identity = await readIdentity(provider, await configuration(), callback, attempt)
        // OpenID Connect Core §2 limits it; a database refuses a longer one, and PostgreSQL also NUL.
        if (!/^\P{Cc}{1,255}$/u.test(identity.subject))
          throw new Error('The subject of the user is not valid.')
        return identity
      }),
  }
}

async function configure(provider: SocialProvider): Promise<OpenidClient.Configuration> {
  const client = await import('openid-client')
  const { issuer, clientId, clientSecret, plain } = provider
  const authentication =
    provider.authentication === 'post'
      ? client.ClientSecretPost(clientSecret)
      : client.ClientSecretBasic(clientSecret)
  // The option of the provider has refused every address without https that is not of this machine.
  // oxlint-disable-next-line typescript/no-deprecated -- it is marked so that nobody uses it for another machine.
  const insecure = isThisMachine(new URL(issuer)) ? [client.allowInsecureRequests] : []
  // The library verifies the signature of a token from the token endpoint only when it is asked to.
  const execute = [...insecure, client.enableNonRepudiationChecks]
  if (plain === undefined)
    return client.discovery(new URL(issuer), clientId, undefined, authentication, {
      execute,
      timeout: TIMEOUT,
    })
  const { authorizationEndpoint: authorization_endpoint, tokenEndpoint: token_endpoint } = plain
  const server = { issuer, authorization_endpoint, token_endpoint }
  const configuration = new client.Configuration(server, clientId, undefined, authentication)
  configuration.timeout = TIMEOUT
  // oxlint-disable-next-line typescript/no-deprecated
  for (const each of insecure) each(configuration)
  return configuration
}

/** The library checks state, issuer (RFC 9207), signature, audience, nonce, expiry and the age of the sign-in. */
async function readIdentity(
  { issuer, plain, maxAge, acr }: SocialProvider,
  configuration: OpenidClient.Configuration,
  callback: URL,
  { state, verifier, nonce }: AuthorizationAttempt,
): Promise<Identity> {
  const client = await import('openid-client')
  const tokens = await client.authorizationCodeGrant(configuration, callback, {
    expectedState: state,
    pkceCodeVerifier: verifier,
    ...(plain === undefined && { expectedNonce: nonce, idTokenExpected: true }),
    ...(maxAge !== undefined && { maxAge }),
  })
  const get = async (url: string) => {
    const headers = new Headers({ accept: 'application/json', 'user-agent': 'mortar' })
    const { access_token: token } = tokens
    const response = await client.fetchProtectedResource(
      configuration,
      token,
      new URL(url),
      'GET',
      null,
      headers,
    )
    if (!response.ok) throw new Error(`The provider responds ${response.status}.`, { cause: response })
    const text = await response.text()
    if (text.length > MOST_CHARACTERS) throw new Error('The response of the provider is too long.')
    return JSON.parse(text) as unknown
  }
  if (plain !== undefined) return { ...(await plain.identify({ get })), issuer }
  const claims = tokens.claims()!
  if (acr !== undefined && claims.acr !== acr)
    throw new Error('The token has another acr than the option asks for.')
  const inToken = claims.email !== undefined || configuration.serverMetadata().userinfo_endpoint === undefined
  // The library compares the subject with that of the token.
  const shown = inToken ? claims : await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)
  return {
    issuer: claims.iss,
    subject: claims.sub,
    email: shown.email,
    emailVerified: shown.email_verified,
    name: shown.name,
  }
}

async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new ProviderFailure(codeOf(error), error)
  }
}

function codeOf(error: unknown): ProviderFailure['code'] {
  const code = inCauses(error, (each) => {
    // The user has declined at the provider (RFC 6749 §4.1.2.1).
    if (each['error'] === 'access_denied') return 'access_denied'
    return isUnavailable(each) ? 'provider_unavailable' : undefined
  })
  return code ?? 'sign_in_failed'
}

function isUnavailable(error: unknown): boolean {
  if (error instanceof Response) return error.status >= 500
  const { name, code, message, status } = error as Partial<Error> & {
    readonly code?: unknown
    readonly status?: unknown
  }
  if (typeof status === 'number' && status >= 500) return true
  return (
    name === 'TimeoutError' ||
    code === 'OAUTH_TIMEOUT' ||
    (name === 'TypeError' && /fetch failed/i.test(message ?? ''))
  )
}

/** Messages of the library quote no token and no code; its causes can hold whole responses. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : typeof error
}
