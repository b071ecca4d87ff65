import type { BrickServices, Cradle, DoctorFinding } from 'mortar'
import { memoryLimitFindings, warnOfMemoryLimits } from 'mortar/kit'
import type { AuthStore } from './accounts/auth-store.ts'
import type { Records, TableShape } from './accounts/records.ts'
import { asvsFindings } from './asvs/findings.ts'
import { createRefreshCookie, type RefreshCookieOptions } from './cookies/refresh-cookie.ts'
import { createDeviceCookie } from './cookies/device-cookie.ts'
import { signUpFieldNames } from './accounts/sign-up-fields.ts'
import { addAuthGauges } from './gauges.ts'
import { createFlows, type AuthFlows } from './flows/flows.ts'
import { createIdentification } from './sessions/identification.ts'
import { createSessionNews } from './sessions/session-news.ts'
import type { AuthParts } from './flows/parts.ts'
import { logAuthEvents } from './events/log-events.ts'
import { checkSecret, deriveKeys } from './tokens/keys.ts'
import { checkValues, linkBase, resolveLifetimes, type PasswordAuthOptions } from './options/options.ts'
import { assertCost } from './passwords/passwords.ts'
import type {
  ConnectedPasswordProvider,
  FeaturePolicies,
  SessionCookie,
} from './connected-password-provider.ts'
import { loadForFirstRequest, LOADING_DELAY, PASSWORD_PEERS } from './password-packages.ts'
import type { AuthProvider } from './provider.ts'
import { countsAlone } from './limits/rate-limits.ts'
import { PASSWORD_SCHEME } from './password-scheme.ts'
import { checkFeatures, routersOf } from './features/check-features.ts'
import { examineFeatures } from './features/examine-features.ts'
import type { ConnectedFeature } from './features/feature.ts'
import { createFeatureKit } from './flows/feature-kit.ts'
import { createHousekeeping } from './flows/housekeeping.ts'
import { createParts, type Settings } from './password-parts.ts'
import { passwordRoutes } from './routes/router.ts'

/** Parts that differ between the relational and the document variant. */
export interface Variant {
  readonly name: string
  /** Its own package, and packages besides those of passwords. */
  readonly peers?: AuthProvider['peers']
  createStore(services: BrickServices): AuthStore
  /** The table of a feature. */
  createRecords(services: BrickServices, shape: TableShape): Records
  /** Preparation of the store before the first request. */
  start?(services: BrickServices): Promise<void> | void
  /** Runs work of `mortar doctor` with a connection; undefined if there is no database that it may open. */
  connected?<T>(services: BrickServices, work: () => Promise<T>): Promise<T | undefined> | undefined
  /** Findings about its database for `mortar doctor`. */
  doctor?(services: BrickServices): Promise<readonly DoctorFinding[]>
}

/**
 * Makes the provider with e-mail and password for a store.
 * @throws StartupError `MORTAR_AUTH_SECRET` when there is no secret, `MORTAR_AUTH_OPTION` for a wrong option.
 */
export function createPasswordProvider(
  variant: Variant,
  options: PasswordAuthOptions,
): AuthProvider<ConnectedPasswordProvider> {
  const keys = deriveKeys(options?.secret)
  checkValues(options)
  signUpFieldNames(options.signUpFields)
  checkFeatures(options.features, options.signUpFields)
  const settings = { options, keys, lifetimes: resolveLifetimes(options) }
  const { features = [] } = options
  return {
    name: variant.name,
    peers: [PASSWORD_PEERS, ...[variant.peers ?? []].flat(), ...features.flatMap(({ peers = [] }) => peers)],
    capabilities: { routes: true, signOut: true, accounts: true, check: true },
    securityScheme: PASSWORD_SCHEME,
    connect: (services, { prefix }) => connect(settings, variant, { services, prefix }),
    routes: [passwordRoutes(features, options.signUpFields), ...routersOf(features)],
    async doctor(services) {
      const appUrl = options.appUrl ?? services.appUrl
      const asvs = asvsFindings({ options, lifetimes: settings.lifetimes, appUrl }, services.environment)
      const memory = countsAlone(options.limits, services) ? memoryLimitFindings(services.environment) : []
      const own = (await variant.doctor?.(services)) ?? []
      const stored = await examineFeatures(features, {
        keys,
        records: (shape) => variant.createRecords(services, shape),
        connected: (work) => variant.connected?.(services, work),
      })
      return [...asvs, ...memory, ...own, ...stored]
    },
  }
}

/** The application that a provider is connected to. */
interface Application {
  readonly services: BrickServices
  readonly prefix: string
}

function connect(settings: Settings, variant: Variant, application: Application): ConnectedPasswordProvider {
  const { options } = settings
  const { services } = application
  const connected: ConnectedFeature[] = []
  const store = variant.createStore(services)
  const records = (shape: TableShape) => variant.createRecords(services, shape)
  const parts = createParts(settings, { store, services, features: connected, records })
  checkForEnvironment(options, services)
  if (options.logEvents !== false) logAuthEvents(parts.events, services, settings.keys.limits)
  const tidy = createHousekeeping(parts)
  const features = connectFeatures(options, parts, variant, { ...application, tidy })
  connected.push(...features.values())
  const flows = createFlows(parts, tidy)
  const redeemTicket = connected.find((feature) => feature.redeemTicket)?.redeemTicket
  const news = createSessionNews(parts)
  const appUrl = options.appUrl ?? services.appUrl
  let loading: NodeJS.Timeout | undefined
  return {
    flows,
    features,
    policies: Object.assign({}, ...connected.map(({ policies }) => policies)) as FeaturePolicies,
    events: parts.events,
    cookie: sessionCookie(options, services),
    device: deviceCookie(options, parts, services),
    appOrigin: appUrl === undefined ? undefined : new URL(appUrl).origin,
    claimsOf(token) {
      const claims = parts.accessTokens.verify(token)
      return claims !== null && !parts.endedSessions.has(claims.sid) ? claims : null
    },
    ...createIdentification({ isFresh: options.freshSession === true, parts, flows, news, redeemTicket }),
    verifyPassword: ({ id }, password) => flows.verifyPassword(id, password),
    ...operationsOf(flows),
    check: news.check,
    async start() {
      if (countsAlone(options.limits, services)) warnOfMemoryLimits('auth', services)
      await variant.start?.(services)
      await news.start()
      addAuthGauges(services.gauges, { passwords: parts.passwords, news })
      loading = setTimeout(loadForFirstRequest, LOADING_DELAY).unref()
    },
    async stop() {
      clearTimeout(loading)
      news.stop()
      await flows.close()
    },
  }
}

function connectFeatures(
  options: PasswordAuthOptions,
  parts: AuthParts,
  variant: Variant,
  { services, prefix, tidy }: Application & { readonly tidy: () => void },
): ReadonlyMap<string, ConnectedFeature> {
  const { features = [], appUrl = services.appUrl } = options
  const kit = createFeatureKit(parts, {
    services,
    tidy,
    records: (shape: TableShape) => variant.createRecords(services, shape),
    refusesUnverified: features.some(({ refusesUnverified }) => refusesUnverified),
    asksForProof: features.some(({ name }) => name === 'emailVerification'),
    cookie: (name) => createRefreshCookie({ ...cookieSettings(options, services), name }),
    linkTo: (path) => `${linkBase(appUrl, services.environment)}${prefix}${path}`,
  })
  return new Map(features.map((feature) => [feature.name, feature.connect(kit)]))
}

function operationsOf({ createUser, invite, signOut, disable, enable, deleteUser, accounts }: AuthFlows) {
  return { createUser, invite, signOut, disable, enable, deleteUser, accounts }
}

function checkForEnvironment(options: PasswordAuthOptions, { environment, logger }: Cradle): void {
  const { warning } = checkSecret(options.secret, environment)
  if (warning !== undefined) logger.warn(warning)
  assertCost(options.cost, environment)
}

function cookieSettings(options: PasswordAuthOptions, services: Cradle): RefreshCookieOptions {
  const appUrl = options.appUrl ?? services.appUrl
  return {
    environment: services.environment,
    ...(appUrl !== undefined && { appUrl }),
    ...(options.secureCookie !== undefined && { secure: options.secureCookie }),
  }
}

function deviceCookie(options: PasswordAuthOptions, { devices }: AuthParts, services: Cradle) {
  const marks = options.deviceCookie === false ? undefined : devices
  return createDeviceCookie(cookieSettings(options, services), marks)
}

function sessionCookie(options: PasswordAuthOptions, services: Cradle): SessionCookie {
  const { cookieName } = options
  const { read, set, clear } = createRefreshCookie({
    ...cookieSettings(options, services),
    ...(cookieName !== undefined && { name: cookieName }),
  })
  return { read, clear, set: (ctx, { refreshToken, refreshAge }) => set(ctx, refreshToken, refreshAge) }
}
