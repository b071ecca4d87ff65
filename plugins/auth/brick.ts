import {
  createRouter,
  defineBrick,
  singleton,
  type Authenticator,
  type BrickServices,
  type Duration,
  type Policy,
  type User,
} from 'mortar'
import { checkOptions, milliseconds, type OptionChecks, warnOfLongNumber } from 'mortar/kit'
import { accountCommands } from './commands.ts'
import { refuseLate } from './deadline.ts'
import { authFindings } from './doctor.ts'
import { PROBLEMS } from './problems.ts'
import {
  checkProvider,
  connectProvider,
  mountPath,
  type AuthProvider,
  type ConnectedProvider,
  type UserOf,
} from './provider.ts'
import { STARTUP_CODES, fault } from './startup-codes.ts'
import { watchByIdentify } from './watch-by-identify.ts'

/** Options of `auth()` besides the provider. */
export interface AuthOptions<Policies extends string = string, SignedIn extends User<object> = User> {
  /** Policies by name: `auth: 'admin'` on a route requires the policy `admin`. */
  readonly policies?: Readonly<Record<Policies, Policy<SignedIn>>>
  /** Prefix of the provider's endpoints; by default `/auth`, or the base path of a provider that has its own. */
  readonly prefix?: string
  /**
   * Time limit of the provider for one credential; after it a guarded route responds 503. Seconds or a duration, 10
   * seconds by default.
   */
  readonly timeout?: Duration
  /** Origins besides the application's own whose pages may send unsafe requests with a cookie: `https://app.example.com`. */
  readonly trustedOrigins?: readonly string[]
}

// Tells other bricks the types of the services.
declare module 'mortar' {
  interface KnownServices {
    readonly authProvider: ConnectedProvider
    readonly authenticator: Authenticator
  }
}

const AUTH_RULES: OptionChecks<AuthOptions>['keys'] = {
  policies: 'object',
  prefix: 'string',
  timeout: 'timeout',
  trustedOrigins: 'strings',
}

/**
 * The auth brick: provides the service `authenticator`, which guards use, and mounts the provider's endpoints. The
 * connected provider is the service `authProvider`.
 * @throws StartupError `MORTAR_AUTH_PROVIDER` for an object that is not a provider, `MORTAR_AUTH_POLICY` for a policy that
 * is not a function, `MORTAR_AUTH_BASE_PATH` for a prefix that differs from the provider's, `MORTAR_AUTH_OPTION` for an
 * invalid timeout or origin.
 */
export function auth<Connected extends ConnectedProvider, Policies extends string = never>(
  provider: AuthProvider<Connected>,
  options: AuthOptions<Policies, UserOf<Connected>> = {},
) {
  checkProvider(provider)
  checkOptions(options, { of: 'auth()', brick: 'auth', keys: AUTH_RULES })
  checkPolicies(options.policies ?? {})
  const prefix = mountPath(provider, options.prefix)
  const timeout = milliseconds(options.timeout ?? '10s')
  const trustedOrigins = (options.trustedOrigins ?? []).map(originOf)
  return defineBrick({
    name: 'auth',
    problems: PROBLEMS,
    startupCodes: STARTUP_CODES,
    after: ['database', 'mail', 'redis', 'limits'],
    peers: [{ from: import.meta.url }, ...[provider.peers ?? []].flat()],
    ...(provider.explainError && { explainError: provider.explainError }),
    services: {
      // `connectProvider` returns the result of the provider's own `connect`.
      authProvider: singleton((services) => connectProvider(provider, services, { prefix }) as Connected),
      authenticator: singleton(
        (services) =>
          // The guard calls the policies with users of this provider only.
          createAuthenticator(
            provider,
            { ...(options as AuthOptions), timeout, trustedOrigins },
            services,
          ) as Authenticator<Policies | ProviderPolicies<Connected>, UserOf<Connected>>,
      ),
    },
    // The state is known in memory, so no result is reused.
    checks: provider.capabilities?.check
      ? { auth: { run: ({ authProvider }) => authProvider.check!(), cache: 0 } }
      : {},
    routes: provider.routes ? [mount(provider, prefix)] : [],
    start: ({ authProvider, logger }) => {
      warnOfLongNumber('timeout of auth()', options.timeout, logger)
      return authProvider.start?.()
    },
    stop: ({ authProvider }) => authProvider.stop?.(),
    doctor: (services) => authFindings(provider, services),
    commands: accountCommands(provider.name),
  })
}

/** `timeout` in milliseconds. */
function createAuthenticator(
  provider: AuthProvider,
  options: AuthOptions & { readonly timeout: number },
  { authProvider: connected }: BrickServices,
): Authenticator {
  const identify: Authenticator['identify'] = (credential, request) =>
    refuseLate(connected.identify(credential, request), options.timeout, provider.name)
  return {
    identify,
    watch: connected.watch?.bind(connected) ?? watchByIdentify(identify),
    policies: policiesOf(connected, options.policies),
    trustedOrigins: options.trustedOrigins ?? [],
    securityScheme: provider.securityScheme,
    ...(provider.cookie === undefined ? {} : { cookie: provider.cookie }),
    ...(connected.issueToken && { issueToken: (user) => connected.issueToken!(user) }),
  }
}

/** Names of the policies that a provider brings. */
type ProviderPolicies<Connected> = Connected extends { readonly policies: infer Own }
  ? keyof Own & string
  : never

/**
 * Returns the policies of the application and of the provider.
 * @throws StartupError `MORTAR_AUTH_POLICY` for a name that both have: the routes of a feature rely on its own policy.
 */
function policiesOf(connected: object, own: NonNullable<AuthOptions['policies']> = {}) {
  const { policies = {} } = connected as { readonly policies?: Readonly<Record<string, Policy>> }
  const taken = Object.keys(policies).find((name) => Object.hasOwn(own, name))
  if (taken === undefined) return { ...policies, ...own }
  throw fault('MORTAR_AUTH_POLICY', `The policy '${taken}' belongs to a feature of the provider.`, {
    remedy: 'Give the policy of the application another name.',
  })
}

/** Checks a value that is compared with the header `Origin`: an impossible one would silently trust nobody. */
function originOf(url: string): string {
  if (/^https?:[^*]*$/i.test(url) && URL.canParse(url)) return new URL(url).origin
  throw fault(
    'MORTAR_AUTH_OPTION',
    `The option trustedOrigins of auth() has an entry that is not an origin: '${url}'.`,
    { remedy: "Write scheme and host, such as 'https://app.example.com'." },
  )
}

function mount(provider: AuthProvider, prefix: string) {
  const router = createRouter({ prefix })
  for (const child of provider.routes ?? []) router.use(child)
  return router
}

function checkPolicies(policies: Readonly<Record<string, unknown>>): void {
  const wrong = Object.entries(policies).find(([, policy]) => typeof policy !== 'function')
  if (wrong)
    throw fault('MORTAR_AUTH_POLICY', `The policy '${wrong[0]}' is not a function but ${typeof wrong[1]}.`, {
      remedy: 'Write a policy as (user, ctx) => boolean.',
    })
}
