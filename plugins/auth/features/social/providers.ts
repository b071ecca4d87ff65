import { checkOptions } from 'mortar/kit'
import { wrongOption } from '../../options/wrong-option.ts'

/** A provider that signs users in: the result of `google()`, `github()` or `oidc()`. */
export interface SocialProvider {
  /** Its name in paths and in `auth_accounts`. */
  readonly name: string
  /** Names an account, together with the subject. */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scope: string
  /** Authentication of the client at the token endpoint (RFC 6749 §2.3.1). */
  readonly authentication: 'basic' | 'post'
  /** True if the provider is believed when it says that an address is proven. */
  readonly trustEmail: boolean
  /** Further parameters of the authorization request. */
  readonly parameters?: Readonly<Record<string, string>>
  readonly maxAge?: number
  readonly acr?: string
  /** For a provider without OpenID Connect: its endpoints, and how to read the user. */
  readonly plain?: PlainProvider
}

/** A provider that speaks OAuth 2 alone. */
export interface PlainProvider {
  readonly authorizationEndpoint: string
  readonly tokenEndpoint: string
  identify(client: ProviderClient): Promise<Omit<Identity, 'issuer'>>
}

/** Reads from the interface of a provider, as the user who has signed in. */
export interface ProviderClient {
  get(url: string): Promise<unknown>
}

/** A user of a provider who has signed in there. Nothing in it is checked but the issuer and the subject. */
export interface Identity {
  /** As the provider writes it, whatever the spelling of the option. */
  readonly issuer: string
  readonly subject: string
  readonly email?: unknown
  readonly emailVerified?: unknown
  readonly name?: unknown
}

/** The client that the provider has registered. */
export interface ClientOptions {
  readonly clientId: string
  readonly clientSecret: string
}

/** Options of `oidc`. */
export interface OidcOptions extends ClientOptions {
  /** Name in paths, such as `company` in `/auth/social/company`: lower-case letters, digits and `-`. */
  readonly name: string
  /** Issuer of the provider; its configuration is read from `/.well-known/openid-configuration` at the first sign-in. */
  readonly issuer: string
  /** `openid email profile` by default. */
  readonly scope?: string
  readonly authentication?: 'basic' | 'post'
  /**
   * True if the provider proves addresses before it says `email_verified`. False by default: then an account begins with an
   * unproven address.
   */
  readonly trustEmail?: boolean
  /** Most seconds since the user has signed in at the provider, which the `auth_time` of the token must prove (ASVS 7.6.1). */
  readonly maxAge?: number
  /** Authentication context that the token must have, such as one with a second factor (ASVS 6.8.4). */
  readonly acr?: string
}

/** Options of `github`. */
export interface GithubOptions extends ClientOptions {
  /** Address of a GitHub Enterprise Server; `https://github.com` by default. */
  readonly url?: string
}

const REQUIRED = { is: 'string', required: true } as const
const CLIENT = { clientId: REQUIRED, clientSecret: REQUIRED } as const

/** Sign in with Google. @throws StartupError `MORTAR_OPTION_UNDEFINED` without a client. */
export function google(options: ClientOptions): SocialProvider {
  checkOptions(options, { of: 'google()', brick: 'auth', keys: CLIENT })
  return {
    ...clientOf('google()', options),
    name: 'google',
    issuer: 'https://accounts.google.com',
    scope: 'openid email profile',
    authentication: 'post',
    trustEmail: true,
    parameters: { prompt: 'select_account' },
  }
}

/**
 * Sign in with any provider of OpenID Connect.
 * @throws StartupError `MORTAR_OPTION_UNDEFINED` without a client, and `MORTAR_AUTH_OPTION` for an issuer without https
 * that is not this machine.
 */
export function oidc(options: OidcOptions): SocialProvider {
  checkOptions(options, {
    of: 'oidc()',
    brick: 'auth',
    keys: {
      ...CLIENT,
      name: 'string',
      issuer: 'string',
      scope: 'string',
      authentication: 'string',
      trustEmail: 'boolean',
      maxAge: 'number',
      acr: 'string',
    },
  })
  checkValues(options)
  const { name, maxAge, acr, scope = 'openid email profile', authentication = 'basic' } = options
  return {
    ...clientOf('oidc()', options),
    name,
    issuer: addressOf('issuer of oidc()', options.issuer),
    scope: scope.split(' ').includes('openid') ? scope : `openid ${scope}`,
    authentication,
    trustEmail: options.trustEmail ?? false,
    ...(maxAge !== undefined && { maxAge, parameters: { max_age: String(maxAge) } }),
    ...(acr !== undefined && { acr }),
  }
}

function checkValues({ name, maxAge, authentication = 'basic' }: OidcOptions): void {
  if (!/^[a-z0-9][a-z0-9-]{0,39}$/.test(name ?? ''))
    throw wrongOption(
      `name of oidc() is not a name: '${name}'`,
      'Use lower-case letters, digits and -: company.',
    )
  if (authentication !== 'basic' && authentication !== 'post')
    throw wrongOption(`authentication of oidc() is '${String(authentication)}'`, "Write 'basic' or 'post'.")
  if (maxAge !== undefined && !(Number.isInteger(maxAge) && maxAge > 0))
    throw wrongOption(`maxAge of oidc() is ${maxAge}`, 'Write whole seconds above zero.')
}

/** Sign in with GitHub, whose primary address must be proven there. @throws StartupError as `google` does. */
export function github(options: GithubOptions): SocialProvider {
  checkOptions(options, { of: 'github()', brick: 'auth', keys: { ...CLIENT, url: 'string' } })
  const url = addressOf('url of github()', options.url ?? 'https://github.com').replace(/\/$/, '')
  const api = options.url === undefined ? 'https://api.github.com' : `${url}/api/v3`
  return {
    ...clientOf('github()', options),
    name: 'github',
    issuer: `${url}/login/oauth`,
    scope: 'read:user user:email',
    authentication: 'post',
    trustEmail: true,
    plain: {
      authorizationEndpoint: `${url}/login/oauth/authorize`,
      tokenEndpoint: `${url}/login/oauth/access_token`,
      identify: (client) => identifyAtGithub(client, api),
    },
  }
}

interface GithubEmail {
  readonly email?: unknown
  readonly primary?: unknown
  readonly verified?: unknown
}

/** The number is the identity; the login name can be given to somebody else. */
async function identifyAtGithub(client: ProviderClient, api: string): Promise<Omit<Identity, 'issuer'>> {
  const { id, name, login } = (await client.get(`${api}/user`)) as {
    readonly [field in 'id' | 'name' | 'login']?: unknown
  }
  if (!Number.isSafeInteger(id)) throw new TypeError('GET /user has no number as id.')
  const emails = (await client.get(`${api}/user/emails`)) as readonly GithubEmail[]
  const primary = Array.isArray(emails)
    ? emails.find((each: GithubEmail) => each.primary === true)
    : undefined
  return {
    subject: String(id),
    name: name ?? login,
    email: primary?.email,
    emailVerified: primary?.verified,
  }
}

function clientOf(of: string, { clientId, clientSecret }: ClientOptions): ClientOptions {
  for (const [name, value] of Object.entries({ clientId, clientSecret }))
    if (value.trim() === '')
      throw wrongOption(`${name} of ${of} is empty`, 'Write what the provider shows for the application.')
  return { clientId, clientSecret }
}

/** Leaves room for the path that `github()` appends, in a column of 255. */
const LONGEST_ADDRESS = 240

/** Checks an address: a token and an account travel to it, so it has https, but for a test on the same machine. */
function addressOf(what: string, url: unknown): string {
  if (typeof url === 'string' && url.length > LONGEST_ADDRESS)
    throw wrongOption(`${what} has ${url.length} characters`, `Write at most ${LONGEST_ADDRESS}.`)
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined
  if (parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && isThisMachine(parsed)))
    return url as string
  throw wrongOption(
    `${what} is not an https address: '${String(url)}'`,
    "Write it with scheme: 'https://id.example.com'.",
  )
}

/** True for addresses of this machine. */
export function isThisMachine({ hostname }: URL): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}
