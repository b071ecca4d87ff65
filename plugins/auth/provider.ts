import type {
  StartupError,
  AnyRouter,
  Authenticator,
  BrickServices,
  DoctorFinding,
  HttpError,
  SecurityScheme,
  User,
} from 'mortar'
import type { Peers } from 'mortar/kit'
import type { AccountOperations } from './flows/accounts.ts'
import { fault } from './startup-codes.ts'

/** Capabilities of a provider besides `identify`. Declared capabilities are checked before the first request. */
export interface ProviderCapabilities {
  /** The provider has endpoints, which the brick mounts under its prefix. */
  readonly routes?: boolean
  /** The provider can end every session of a user. */
  readonly signOut?: boolean
  /** An operator manages the accounts here: the commands `mortar auth users`, `disable` and others. */
  readonly accounts?: boolean
  /** The provider knows if it can evaluate credentials now. `/readyz` shows it as the check `auth`. */
  readonly check?: boolean
}

/** A provider connected to one application. `SignedIn` is the type of its users, with their declared columns or claims. */
export interface ConnectedProvider<SignedIn extends User<object> = User> {
  /**
   * @returns the authenticated user, or null. A synchronous result keeps the request synchronous. An exception means that
   * the credential could not be evaluated; a guarded route then refuses.
   */
  identify: Authenticator<string, SignedIn>['identify']
  /**
   * Calls `onEnd` once when the credential of a long response ends, and returns a function that stops it. Without this
   * function the brick repeats `identify` every 30 seconds while such a response is sent.
   */
  watch?: NonNullable<Authenticator['watch']>
  /** Issues a credential for a user, if the provider makes its own. The testing kit signs users in with it. */
  issueToken?(user: User): string | Promise<string>
  /** Ends every session of a user: call it after a change of role, or before deleting the account. */
  signOut?(userId: string): Promise<void>
  /** Operations on accounts for `mortar auth`. */
  readonly accounts?: AccountOperations
  /** The check `auth` of `/readyz`: fails, by an exception or a rejection, while credentials cannot be evaluated. */
  check?(): unknown
  start?(): unknown
  stop?(): unknown
}

/** Properties of a provider before it is connected to an application. */
export interface ProviderDescription {
  /** For messages: `basic`, `hosted` … */
  readonly name: string
  /** Its package, and packages that the user chooses; the start checks them. */
  readonly peers?: Peers | readonly Peers[]
  readonly securityScheme: SecurityScheme
  readonly capabilities?: ProviderCapabilities
  /** Routers for the prefix of the brick. Their handlers read the provider as `ctx.services.authProvider`. */
  readonly routes?: readonly AnyRouter[]
  /** Names of cookies that may contain the credential; the first one found wins. */
  readonly cookie?: string | readonly string[]
  /** Fixed base path of the routes, for a provider that supports no other: `/api/auth`. */
  readonly basePath?: string
  /** Returns findings for `mortar doctor`, from the services of an application that is not started. */
  readonly doctor?: (services: BrickServices) => readonly DoctorFinding[] | Promise<readonly DoctorFinding[]>
  /** Turns an unexpected error of the provider into a response, such as an unreachable store into a 503. */
  readonly explainError?: (error: unknown) => HttpError | undefined
  /** Tables of the application's relational database that the provider uses, for `mortar doctor`. */
  readonly tables?: readonly string[]
}

/**
 * Authenticates users: the contract of the default provider, of hosted providers and of auth libraries. A provider
 * without state is itself a `ConnectedProvider`. Otherwise `connect` makes one for each application from its services.
 */
export type AuthProvider<Connected extends ConnectedProvider = ConnectedProvider> = ProviderDescription &
  (Connected | { connect(services: BrickServices, mount: ProviderMount): Connected })

/** Place of a provider in an application. */
export interface ProviderMount {
  /** Path of its routes: `/auth`. */
  readonly prefix: string
}

/** `user.raw` of a type that an application writes. A mapped type, so that also an interface is a record of any keys. */
export type RawRecord<Raw> = [keyof Raw] extends [never]
  ? Record<string, unknown>
  : { readonly [Name in keyof Raw]: Raw[Name] }

/** The users of a provider. */
export type UserOf<Connected extends ConnectedProvider<User<object>>> = Exclude<
  Awaited<ReturnType<Connected['identify']>>,
  null
>

/** @throws StartupError `MORTAR_AUTH_PROVIDER` naming the provider and its missing parts. */
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
 * Returns the mount path of a provider's routes: its own base path, else the configured prefix, else `/auth`.
 * @throws StartupError `MORTAR_AUTH_BASE_PATH` naming both when they differ.
 */
export function mountPath({ name, basePath }: ProviderDescription, prefix: string | undefined): string {
  if (basePath === undefined) return prefix ?? '/auth'
  if (prefix !== undefined && trimmed(prefix) !== trimmed(basePath))
    throw fault(
      'MORTAR_AUTH_BASE_PATH',
      `The auth provider '${name}' uses the base path '${basePath}', but auth() mounts it under '${prefix}'.`,
      { remedy: `Remove the prefix from auth(), or set both to the same path.` },
    )
  return trimmed(basePath)
}

function trimmed(path: string): string {
  return path.replace(/\/+$/, '')
}

/**
 * @returns the provider, connected to the application with these services.
 * @throws StartupError `MORTAR_AUTH_PROVIDER` naming the provider and its missing parts.
 */
export function connectProvider(
  provider: AuthProvider,
  services: BrickServices,
  mount: ProviderMount,
): ConnectedProvider {
  const connected = 'connect' in provider ? provider.connect(services, mount) : provider
  if (typeof connected?.identify !== 'function')
    throw refusal(subject(provider), "is connected and has no function 'identify'")
  for (const capability of ['signOut', 'check'] as const)
    if (provider.capabilities?.[capability] && typeof connected[capability] !== 'function')
      throw refusal(
        subject(provider),
        `declares the capability '${capability}' and has no function '${capability}'`,
      )
  if (provider.capabilities?.accounts && typeof connected.accounts?.list !== 'function')
    throw refusal(subject(provider), "declares the capability 'accounts' and has no object 'accounts'")
  return connected
}

function subject(provider: { readonly name: string }): string {
  return `The auth provider '${provider.name}'`
}

function refusal(who: string, what: string): StartupError {
  return fault('MORTAR_AUTH_PROVIDER', `${who} ${what}.`, {
    remedy: 'Pass auth() an object of the type AuthProvider, such as the result of basicAuth().',
  })
}
