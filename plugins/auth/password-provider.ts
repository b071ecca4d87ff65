import { randomInt, randomUUID } from 'node:crypto'
import type { BrickServices, Cradle, DoctorFinding, User } from 'mortar'
import { createMemoryLimiter, memoryLimitFindings, warnOfMemoryLimits } from 'mortar/kit'
import type { AuthStore } from './accounts/auth-store.ts'
import { asvsFindings } from './asvs/findings.ts'
import { createAccessTokens, type AccessClaims } from './tokens/access-tokens.ts'
import { createRefreshCookie, type RefreshCookieOptions } from './cookies/refresh-cookie.ts'
import { createDeviceCookie } from './cookies/device-cookie.ts'
import { createDeviceMarks } from './limits/device-marks.ts'
import { createEndedSessions } from './sessions/ended-sessions.ts'
import { userOf } from './accounts/signed-in-user.ts'
import type { AuthEvents } from './events/events.ts'
import { addAuthGauges } from './gauges.ts'
import { createFlows, type AuthFlows } from './flows/flows.ts'
import { createFreshSessions } from './sessions/fresh-session.ts'
import { createSessionNews, type SessionNews } from './sessions/session-news.ts'
import { createSessionWatch } from './sessions/session-watch.ts'
import type { AuthParts } from './flows/parts.ts'
import { mostResetTokens } from './limits/limit-rules.ts'
import { logAuthEvents } from './events/log-events.ts'
import { checkSecret, deriveKeys, type AuthKeys } from './tokens/keys.ts'
import {
  checkCounts,
  checkTexts,
  resolveLifetimes,
  type PasswordAuthOptions,
  type ResolvedLifetimes,
} from './options/options.ts'
import { assertCost, createPasswords } from './passwords/passwords.ts'
import type { ConnectedPasswordProvider, SessionCookie } from './connected-password-provider.ts'
import { loadForFirstRequest, PASSWORD_PEERS } from './password-packages.ts'
import type { AuthProvider } from './provider.ts'
import { countsAlone, createRateLimits, serviceLimiter } from './limits/rate-limits.ts'
import { createRefreshTokens } from './tokens/refresh-tokens.ts'
import { createResetMail } from './flows/reset-mail.ts'
import { createResetTokens } from './tokens/reset-tokens.ts'
import { createRotationClock } from './tokens/rotation-clock.ts'
import { PASSWORD_SCHEME } from './password-scheme.ts'
import { passwordRoutes } from './routes/router.ts'
import { createPasswordJudge } from './passwords/weak-passwords/password-judge.ts'

/** Parts that differ between the relational and the document variant. */
export interface Variant {
  readonly name: string
  /** Its own package, and packages besides those of passwords. */
  readonly peers?: AuthProvider['peers']
  createStore(services: BrickServices): AuthStore
  /** Preparation of the store before the first request. */
  start?(services: BrickServices): Promise<void> | void
  /** Findings about its database for `mortar doctor`. */
  doctor?(services: BrickServices): Promise<readonly DoctorFinding[]>
}

interface Settings {
  readonly options: PasswordAuthOptions
  readonly keys: AuthKeys
  readonly lifetimes: ResolvedLifetimes
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
  checkTexts(options)
  checkCounts(options)
  const settings = { options, keys, lifetimes: resolveLifetimes(options) }
  return {
    name: variant.name,
    peers: [PASSWORD_PEERS, ...[variant.peers ?? []].flat()],
    capabilities: { routes: true, signOut: true, accounts: true, check: true },
    securityScheme: PASSWORD_SCHEME,
    routes: [passwordRoutes],
    connect: (services) => connect(settings, variant, services),
    async doctor(services) {
      const appUrl = options.appUrl ?? services.appUrl
      const asvs = asvsFindings({ options, lifetimes: settings.lifetimes, appUrl }, services.environment)
      const memory = countsAlone(options.limits, services) ? memoryLimitFindings(services.environment) : []
      return [...asvs, ...memory, ...((await variant.doctor?.(services)) ?? [])]
    },
  }
}

/** Milliseconds after the start, so that later packages do not delay the first requests. */
const LOADING_DELAY = 1000

function connect(settings: Settings, variant: Variant, services: BrickServices): ConnectedPasswordProvider {
  const { options } = settings
  const parts = createParts(settings, variant.createStore(services), services)
  checkForEnvironment(options, services)
  if (options.logEvents !== false) logAuthEvents(parts.events, services.logger, settings.keys.limits)
  const flows = createFlows(parts)
  const news = createSessionNews(parts)
  const appUrl = options.appUrl ?? services.appUrl
  let loading: NodeJS.Timeout | undefined
  return {
    flows,
    events: parts.events,
    cookie: sessionCookie(options, services),
    device: createDeviceCookie(
      cookieSettings(options, services),
      options.deviceCookie === false ? undefined : parts.devices,
    ),
    appOrigin: appUrl === undefined ? undefined : new URL(appUrl).origin,
    claimsOf(token) {
      const claims = parts.accessTokens.verify(token)
      return claims !== null && !parts.endedSessions.has(claims.sid) ? claims : null
    },
    ...identification(settings, parts, flows, news),
    watch: watchSessions(parts, flows),
    createUser: flows.createUser,
    signOut: flows.signOut,
    disable: flows.disable,
    enable: flows.enable,
    accounts: flows.accounts,
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

function identification(
  { options }: Settings,
  parts: AuthParts,
  flows: AuthFlows,
  news: SessionNews,
): Pick<ConnectedPasswordProvider, 'identify' | 'issueToken'> {
  const { accessTokens, endedSessions } = parts
  const fresh = options.freshSession ? createFreshSessions(parts, flows, news) : undefined
  const look = (claims: AccessClaims) =>
    news.whenCurrent(() => {
      const isEnded = endedSessions.isEnded(claims.sid)
      const found = (isOver: boolean) => (isOver ? null : userOf(claims))
      return typeof isEnded === 'boolean' ? found(isEnded) : isEnded.then(found)
    })
  const lookUp = fresh?.identify ?? look
  const issue = ({ id, raw }: User) => accessTokens.sign({ sub: id, sid: randomUUID(), user: raw }).token
  return {
    identify({ token }) {
      const claims = accessTokens.verify(token)
      return claims && lookUp(claims)
    },
    issueToken: fresh?.issueToken ?? issue,
  }
}

function checkForEnvironment(options: PasswordAuthOptions, { environment, logger }: Cradle): void {
  const { warning } = checkSecret(options.secret, environment)
  if (warning !== undefined) logger.warn(warning)
  assertCost(options.cost, environment)
}

function createParts({ options, keys, lifetimes }: Settings, store: AuthStore, services: Cradle): AuthParts {
  const { clock, logger } = services
  const events = services.events.typed<AuthEvents>()
  const {
    issuer = defaultIssuer(options, services),
    audience = issuer,
    limits,
    cost,
    accessTokenCache: cache,
  } = options
  return {
    store,
    events,
    clock,
    rotations: createRotationClock(clock, store),
    logger,
    passwords: createPasswords({ clock, ...(cost && { cost }) }),
    accessTokens: createAccessTokens({
      keys,
      issuer,
      audience,
      lifetime: lifetimes.access,
      clock,
      ...(cache !== undefined && { cache }),
    }),
    refreshTokens: createRefreshTokens({ keys }),
    resetTokens: createResetTokens(),
    endedSessions: createEndedSessions({ lifetime: lifetimes.access, store, clock }),
    limits: createRateLimits({
      key: keys.limits,
      limiter: serviceLimiter(services) ?? createMemoryLimiter({ clock }),
      isTest: services.environment === 'test',
      ...(limits !== undefined && { limits }),
    }),
    lifetimes,
    maxSessions: options.maxSessions,
    devices: createDeviceMarks(keys.device),
    judgePassword: createPasswordJudge(options, services),
    mostResetTokens: mostResetTokens(limits, lifetimes.resetToken),
    resetMail: createResetMail(options, lifetimes, services),
    mailDelay: services.environment === 'test' ? () => 0 : () => randomInt(...MAIL_DELAY),
    unfinished: new Set(),
  }
}

/** Two applications with one secret refuse each other's tokens, unless neither has an `appUrl`. */
function defaultIssuer(options: PasswordAuthOptions, services: Cradle): string {
  const { appUrl = services.appUrl } = options
  return appUrl === undefined ? 'mortar' : appUrl.replace(/\/+$/, '')
}

/** Milliseconds: much longer than the work, so that the work rarely overlaps with the next request. */
const MAIL_DELAY = [50, 500] as const

function cookieSettings(options: PasswordAuthOptions, services: Cradle): RefreshCookieOptions {
  const appUrl = options.appUrl ?? services.appUrl
  return {
    environment: services.environment,
    ...(appUrl !== undefined && { appUrl }),
    ...(options.secureCookie !== undefined && { secure: options.secureCookie }),
  }
}

function sessionCookie(options: PasswordAuthOptions, services: Cradle): SessionCookie {
  const { cookieName } = options
  const { read, set, clear } = createRefreshCookie({
    ...cookieSettings(options, services),
    ...(cookieName !== undefined && { name: cookieName }),
  })
  return { read, clear, set: (ctx, { refreshToken, refreshAge }) => set(ctx, refreshToken, refreshAge) }
}

function watchSessions(parts: AuthParts, flows: AuthFlows): ConnectedPasswordProvider['watch'] {
  const watch = createSessionWatch({
    ...parts,
    lifetime: parts.lifetimes.access,
    isActive: async ({ sid, sub }) => (await flows.findOwner(sid, sub)) !== null,
  })
  return ({ token }, _request, onEnd) => watch(parts.accessTokens.verify(token), onEnd)
}
