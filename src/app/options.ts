import type { AnyBrick } from '../bricks/brick.ts'
import type { Credential } from '../contracts/authenticator.ts'
import { type Clock, systemClock } from '../contracts/clock.ts'
import { env } from '../support/env/env.ts'
import { type Environment, readEnvironment } from '../support/env/environment.ts'
import type { Logger } from '../contracts/logger.ts'
import type { TrustProxy } from '../context/client-address.ts'
import { StartupError } from '../errors/startup-error.ts'
import { bytes, type Size } from '../support/bytes.ts'
import { checkOptions, type OptionChecks } from '../support/check-options.ts'
import { timeLimit, type Duration } from '../support/duration.ts'
import { formLimits, type FormLimits, type MultipartOptions } from '../support/form-limits.ts'
import { checkCookieKeys } from './cookie-keys.ts'
import {
  HEALTH_KEYS,
  resolveHealth,
  type HealthOptions,
  type ResolvedHealth,
} from './life/health/health-options.ts'
import type { KoaOptions } from '../context/outer-app.ts'
import { ELSEWHERE, planListening, type ServerOptions } from './serve/listen-options.ts'
import { checkCredentials, checkTokenCookie } from './credential-rules.ts'
import { createLogger, givenLogger, silentLogger, unfailing } from './log/logger.ts'
import { OPENAPI_KEYS, type OpenApiOptions } from './openapi-options.ts'

/** Options of `createApp`. The defaults suit a service without a proxy. */
export interface AppOptions {
  /** By default from `NODE_ENV`; anything that is not `production` or `test` is `development`. */
  readonly environment?: Environment
  /** `false` for none. By default pino: JSON lines in production, readable ones on a terminal, silent under test. */
  readonly logger?: Logger | false
  /** Writes one log line per request. By default in development only. */
  readonly logRequests?: boolean
  readonly clock?: Clock
  /** Proxies whose `X-Forwarded-For` is trusted: addresses, CIDRs, or a number of hops. By default none. */
  readonly trustProxy?: TrustProxy
  /** Largest body of a route without its own limit: bytes or a size. 1 MiB by default. */
  readonly bodyLimit?: Size
  /** Time limit of handlers: seconds or a duration such as `'2h'`, 0 for no limit. 60 s in production, else none. */
  readonly handlerTimeout?: Duration
  /** Limits of forms: `maxFields`, `maxFiles`, `maxFileSize`, `maxHeaderSize`. A route can set its own. */
  readonly multipart?: MultipartOptions
  /** Maximum issues in a 422 response; validation stops when it finds one more. 20 by default. */
  readonly maxIssues?: number
  /** Name of the cookie that may carry the credential. `access_token` by default. */
  readonly tokenCookie?: string
  /**
   * Places where a request may carry its credential; by default `['header', 'cookie', 'query']`. If the credential
   * is in the query, the response is sent with `no-store`.
   */
  readonly credentials?: readonly Credential['source'][]
  /**
   * Secrets that sign and encrypt cookies, for `ctx.cookies` and for Koa: the first key signs, all keys verify. Use at
   * least 32 random bytes each. Production refuses a weak key.
   */
  readonly keys?: readonly string[]
  /** Public address of the application, for links in mails: `https://app.example.com`. Never read from `Host`. */
  readonly appUrl?: string
  /** Origins besides the request's own whose pages may send unsafe requests with a cookie credential. */
  readonly trustedOrigins?: readonly string[]
  /** Options of the OpenAPI document; `false` serves neither document nor page. */
  readonly openapi?: OpenApiOptions | false
  /** Options of `/livez` and `/readyz`; `false` serves neither. */
  readonly health?: HealthOptions | false
  /** Time for which the application serves on after SIGTERM, before it closes. 5 s in production, else 0. */
  readonly drainDelay?: Duration
  /** Time limit of `close()` for requests in flight, and for the stop of each brick. 10 s by default. */
  readonly shutdownTimeout?: Duration
  /** Limits of the server that `listen()` creates: timeouts, connections, size of headers. */
  readonly server?: ServerOptions
  /**
   * True to close the application and exit on SIGTERM, SIGINT and an uncaught error after `listen()`. The default, except
   * under test.
   */
  readonly signals?: boolean
  /** Options of the Koa application behind `app.koa`. */
  readonly koa?: KoaOptions
}

/** Configuration of an application: its options and its bricks. */
export interface AppConfig<Bricks extends readonly AnyBrick[] = readonly AnyBrick[]> extends AppOptions {
  readonly bricks?: Bricks
}

/** The options with defaults filled in and units resolved: bytes and seconds. */
export interface ResolvedOptions {
  readonly environment: Environment
  readonly logger: Logger
  /** The logger for the framework's own lines; it never throws. */
  readonly reporter: Logger
  readonly logRequests: boolean
  readonly clock: Clock
  readonly trustProxy: TrustProxy
  readonly bodyLimit: number
  readonly handlerTimeout: number
  readonly multipart: FormLimits
  readonly maxIssues: number
  readonly tokenCookie: string
  readonly credentials: readonly Credential['source'][]
  readonly keys: readonly string[] | undefined
  readonly appUrl: string | undefined
  readonly trustedOrigins: readonly string[]
  readonly openapi: OpenApiOptions | false
  readonly health: ResolvedHealth | undefined
  readonly drainDelay: number
  readonly shutdownTimeout: number
  readonly server: ServerOptions
  readonly signals: boolean
  readonly koa: KoaOptions
}

const SIZE = ['number', 'string'] as const

const OPTIONS: OptionChecks<AppConfig>['keys'] = {
  environment: 'string',
  logger: ['object', 'false'],
  logRequests: 'boolean',
  clock: 'object',
  trustProxy: ['strings', 'number', 'false'],
  bodyLimit: SIZE,
  maxIssues: 'number',
  handlerTimeout: SIZE,
  multipart: 'object',
  tokenCookie: 'string',
  credentials: { is: 'strings', guard: true },
  keys: 'strings',
  appUrl: 'string',
  trustedOrigins: 'strings',
  openapi: { is: ['object', 'false'], keys: OPENAPI_KEYS },
  health: { is: ['object', 'false'], keys: HEALTH_KEYS },
  drainDelay: SIZE,
  shutdownTimeout: SIZE,
  server: 'object',
  signals: 'boolean',
  koa: {
    is: 'object',
    keys: {
      asyncLocalStorage: ['boolean', 'object'],
      subdomainOffset: 'number',
    } satisfies OptionChecks<KoaOptions>['keys'],
  },
  bricks: 'list',
}

/**
 * Checks the keys and types of a configuration. Units, addresses and the limits in `server` are checked when read.
 * @param of name of the call, for messages.
 * @throws StartupError
 */
export function checkConfig(config: AppConfig, of: string): void {
  checkOptions(config, { of, keys: OPTIONS, elsewhere: ELSEWHERE })
}

const ENVIRONMENTS: readonly Environment[] = ['development', 'test', 'production']

/** @throws StartupError for a size, duration, address or origin that cannot be read. */
export function resolveOptions(options: AppOptions): ResolvedOptions {
  const environment = knownEnvironment(options.environment ?? readEnvironment())
  const logger =
    options.logger === false ? silentLogger : (givenLogger(options.logger) ?? createLogger(environment))
  const reporter = unfailing(logger)
  const timeout = (option: 'handlerTimeout' | 'drainDelay' | 'shutdownTimeout', standard: () => Duration) =>
    checked(option, () => timeLimit(option, options[option] ?? standard(), reporter))
  return {
    environment,
    logger,
    reporter,
    logRequests: options.logRequests ?? environment === 'development',
    clock: options.clock ?? systemClock,
    trustProxy: options.trustProxy ?? false,
    bodyLimit: checked('bodyLimit', () => bytes(options.bodyLimit ?? '1mb')),
    handlerTimeout: timeout('handlerTimeout', () => (environment === 'production' ? '60s' : 0)),
    multipart: checked('multipart', () => formLimits(options.multipart)),
    maxIssues: issueLimit(options.maxIssues),
    tokenCookie: checkTokenCookie(options.tokenCookie),
    credentials: checkCredentials(options.credentials),
    keys: checkCookieKeys(options.keys, environment, reporter),
    appUrl: options.appUrl === undefined ? undefined : origin('appUrl', options.appUrl),
    trustedOrigins: trustedOrigins(options),
    openapi: options.openapi ?? {},
    health: resolveHealth(options.health),
    drainDelay: timeout('drainDelay', () => delayOf(environment)),
    shutdownTimeout: timeout('shutdownTimeout', () => '10s'),
    server: checkedServer(options.server ?? {}, environment),
    signals: options.signals ?? environment !== 'test',
    koa: { ...options.koa },
  }
}

/** Refuses an unknown environment: a mistyped `production` must not relax the rules of production. */
function knownEnvironment(environment: Environment): Environment {
  if (ENVIRONMENTS.includes(environment)) return environment
  throw new StartupError(`Unknown environment '${environment as string}'.`, {
    code: 'MORTAR_OPTION',
    remedy: 'Use development, test or production.',
  })
}

/** Checks `maxIssues`. The maximum of 1000 issues is about 100 kB of response. */
function issueLimit(maxIssues = 20): number {
  if (Number.isInteger(maxIssues) && maxIssues >= 1 && maxIssues <= 1_000) return maxIssues
  throw new StartupError(`The option maxIssues is ${String(maxIssues)}, not a whole number from 1 to 1000.`, {
    code: 'MORTAR_OPTION',
    remedy: 'Write the maximum number of issues in a 422 response, such as 20.',
  })
}

function trustedOrigins({ appUrl, trustedOrigins: listed = [] }: AppOptions): readonly string[] {
  const own = appUrl === undefined ? [] : [origin('appUrl', appUrl)]
  return [...own, ...listed.map((url) => origin('trustedOrigins', url))].map((url) => new URL(url).origin)
}

/** `DRAIN_DELAY`, else 5 s in production, so that a load balancer notices in time that the process leaves. */
function delayOf(environment: Environment): Duration {
  return env.duration('DRAIN_DELAY', { default: environment === 'production' ? '5s' : 0 })
}

/** Checks the limits when the application is created, not later in `listen()`. */
function checkedServer(server: ServerOptions, environment: Environment): ServerOptions {
  planListening(server, environment)
  return server
}

function checked<T>(option: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw new StartupError(`The option ${option} cannot be read: ${(cause as Error).message}`, {
      code: 'MORTAR_OPTION',
      remedy: `Correct ${option} in the options of createApp.`,
      cause,
    })
  }
}

/** Checks an absolute http(s) address and removes a trailing slash. */
function origin(option: string, url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if ((parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') || /[?#]/.test(url))
    throw new StartupError(`The option ${option} is not an absolute http or https address, or has a query.`, {
      code: 'MORTAR_OPTION',
      remedy: `Write it with its scheme, such as 'https://app.example.com'.`,
    })
  return url.replace(/\/+$/, '')
}
