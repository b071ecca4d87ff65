import {
  StartupError,
  type AnyRouter,
  type Authenticator,
  type Cradle,
  type DoctorFinding,
  type SecurityScheme,
  type User,
} from '../../src/index.ts'

/** What a provider can do besides telling who somebody is. What is declared is checked before the first request. */
export interface ProviderCapabilities {
  /** It brings its own endpoints, which the brick mounts under its prefix. */
  readonly routes?: boolean
  /** It can end every session of a user. */
  readonly signOut?: boolean
}

/** A provider at work in one application. */
export interface ConnectedProvider {
  /**
   * @returns the user whom the credential proves, or null. A synchronous answer keeps the request synchronous.
   * A throw means that the credential could not be evaluated; a guarded route then refuses.
   */
  identify: Authenticator['identify']
  /** Signs a credential of this user, for a provider that makes its own; the testing kit signs users in with it. */
  issueToken?(user: User): string | Promise<string>
  /** Ends every session of a user: call it after a change of role, or before deleting the account. */
  signOut?(userId: string): Promise<void>
  start?(): unknown
  stop?(): unknown
}

/** What is known of a provider before it works in an application. */
export interface ProviderDescription {
  /** For messages: `basic`, `hosted` … */
  readonly name: string
  readonly securityScheme: SecurityScheme
  readonly capabilities?: ProviderCapabilities
  /** Routers to be mounted under the prefix of the brick. They find the provider as `ctx.services.authProvider`. */
  readonly routes?: readonly AnyRouter[]
  /** Names of cookies that may carry the credential, if the provider uses any; the first found wins. */
  readonly cookie?: string | readonly string[]
  /** Where its routes have to be mounted, for a provider that cannot answer anywhere else: `/api/auth`. */
  readonly basePath?: string
  /** Findings for `mortar doctor`, from the services of an application that is not started. */
  readonly doctor?: (services: Cradle) => readonly DoctorFinding[]
  /** Tables of the application's relational database that it works on, for `mortar doctor`. */
  readonly tables?: readonly string[]
}

/**
 * Vouches for users: the one contract of the default provider, a hosted one and another library's. Either it has no
 * state of its own and is a `ConnectedProvider` at once, or `connect` makes one for each application from its services.
 */
export type AuthProvider<Connected extends ConnectedProvider = ConnectedProvider> = ProviderDescription &
  (Connected | { connect(services: Cradle): Connected })

/** @throws StartupError `MORTAR_AUTH_PROVIDER` naming the provider and what is missing. */
export function checkProvider(provider: AuthProvider): void {
  if (typeof provider !== 'object' || provider === null)
    throw refusal('auth()', `is given ${provider === null ? 'null' : typeof provider} instead of a provider`)
  if (typeof provider.name !== 'string' || provider.name === '') throw refusal('A provider', "has no 'name'")
  const missing = missingIn({ ...provider }, provider.capabilities ?? {})
  if (missing !== undefined) throw refusal(subject(provider), missing)
}

function missingIn(
  parts: Partial<Record<string, unknown>>,
  { routes }: ProviderCapabilities,
): string | undefined {
  const { identify, connect, securityScheme } = parts
  if (typeof identify !== 'function' && typeof connect !== 'function')
    return "has neither the function 'identify' nor 'connect'"
  const { name, scheme } = (securityScheme ?? {}) as Partial<SecurityScheme>
  if (typeof name !== 'string' || typeof scheme !== 'object')
    return "has no 'securityScheme' ({ name, scheme }) for the OpenAPI document"
  if (routes && !Array.isArray(parts['routes']))
    return "declares the capability 'routes' and has no list of routers 'routes'"
  return undefined
}

/**
 * Where the routes of a provider are mounted: at its own base path, else at the prefix that was asked for, else `/auth`.
 * @throws StartupError `MORTAR_AUTH_BASE_PATH` naming both when they differ.
 */
export function mountPath({ name, basePath }: ProviderDescription, prefix: string | undefined): string {
  if (basePath === undefined) return prefix ?? '/auth'
  if (prefix !== undefined && trimmed(prefix) !== trimmed(basePath))
    throw new StartupError(
      `The auth provider '${name}' answers under '${basePath}', and auth() is to mount it under '${prefix}'.`,
      {
        code: 'MORTAR_AUTH_BASE_PATH',
        remedy: `Leave the prefix out of auth(), or give both the same path.`,
        brick: 'auth',
      },
    )
  return trimmed(basePath)
}

function trimmed(path: string): string {
  return path.replace(/\/+$/, '')
}

/**
 * @returns the provider at work in the application that has these services.
 * @throws StartupError `MORTAR_AUTH_PROVIDER` naming the provider and what is missing.
 */
export function connectProvider(provider: AuthProvider, services: Cradle): ConnectedProvider {
  const connected = 'connect' in provider ? provider.connect(services) : provider
  if (typeof connected?.identify !== 'function')
    throw refusal(subject(provider), "is connected and has no function 'identify'")
  if (provider.capabilities?.signOut && typeof connected.signOut !== 'function')
    throw refusal(subject(provider), "declares the capability 'signOut' and has no function 'signOut'")
  return connected
}

function subject(provider: { readonly name: string }): string {
  return `The auth provider '${provider.name}'`
}

function refusal(who: string, what: string): StartupError {
  return new StartupError(`${who} ${what}.`, {
    code: 'MORTAR_AUTH_PROVIDER',
    remedy: 'Give auth() an object of the type AuthProvider, such as what basicAuth() returns.',
    brick: 'auth',
  })
}
