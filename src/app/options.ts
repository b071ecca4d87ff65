import type { AnyBrick } from '../bricks/brick.ts'
import type { Credential } from '../contracts/authenticator.ts'
import type { Clock } from '../contracts/clock.ts'
import type { Environment } from '../support/env/environment.ts'
import type { Logger } from '../contracts/logger.ts'
import type { TrustProxy } from '../context/client-address.ts'
import type { Size } from '../support/bytes.ts'
import { checkOptions, type OptionChecks } from '../support/check-options.ts'
import type { Duration } from '../support/duration.ts'
import type { PipelineRuntime } from '../pipeline/step.ts'
import type { MultipartOptions } from '../support/form-limits.ts'
import { HEALTH_KEYS, type HealthOptions, type ResolvedHealth } from './life/health/health-options.ts'
import type { KoaOptions } from '../context/outer-app.ts'
import { ELSEWHERE, type ServerOptions } from './serve/listen-options.ts'
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

/** Options whose resolved value has another type. */
type Converted =
  | 'logger'
  | 'bodyLimit'
  | 'handlerTimeout'
  | 'multipart'
  | 'keys'
  | 'appUrl'
  | 'health'
  | 'drainDelay'
  | 'shutdownTimeout'

/** The options with defaults filled in and units resolved: bytes and seconds. */
export interface ResolvedOptions
  extends
    Required<Omit<AppOptions, Converted>>,
    Pick<PipelineRuntime, 'bodyLimit' | 'handlerTimeout' | 'multipart'> {
  readonly logger: Logger
  /** The logger for the framework's own lines; it never throws. */
  readonly reporter: Logger
  readonly keys: readonly string[] | undefined
  readonly appUrl: string | undefined
  readonly health: ResolvedHealth | undefined
  readonly drainDelay: number
  readonly shutdownTimeout: number
}

const SIZE = ['number', 'string'] as const

const OPTIONS: OptionChecks<AppConfig>['keys'] = {
  environment: 'string',
  logger: ['object', 'false'],
  logRequests: 'boolean',
  clock: 'clock',
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
  koa: { is: 'object', keys: { asyncLocalStorage: ['boolean', 'object'] } },
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
