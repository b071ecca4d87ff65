import { systemClock } from '../contracts/clock.ts'
import { collectFaults } from '../errors/collect-faults.ts'
import { StartupError } from '../errors/startup-error.ts'
import { bytes } from '../support/bytes.ts'
import { wrongOption } from '../support/check-options.ts'
import { timeLimit, type Duration } from '../support/duration.ts'
import { env } from '../support/env/env.ts'
import { type Environment, readEnvironment } from '../support/env/environment.ts'
import { formLimits } from '../support/form-limits.ts'
import { checkCookieKeys } from './cookie-keys.ts'
import { checkCredentials, checkTokenCookie } from './credential-rules.ts'
import { resolveHealth } from './life/health/health-options.ts'
import { planListening, type ServerOptions } from './serve/listen-options.ts'
import { createLogger, givenLogger, silentLogger, unfailing } from './log/logger.ts'
import { checkConfig, type AppConfig, type AppOptions, type ResolvedOptions } from './options.ts'

const ENVIRONMENTS: readonly Environment[] = ['development', 'test', 'production']

/**
 * Checks the options of createApp and fills in the defaults.
 * @throws StartupError for an unknown option, or a value that cannot be read; StartupErrors for several.
 */
export function resolveOptions(config: AppConfig): ResolvedOptions {
  const { read, throwAll } = collectFaults()
  read(() => checkConfig(config, 'createApp()'))
  const options = soundPart(config)
  const environment = read(() => knownEnvironment(options.environment ?? readEnvironment())) ?? 'development'
  const logger =
    options.logger === false ? silentLogger : (givenLogger(options.logger) ?? createLogger(environment))
  const reporter = unfailing(logger)
  const timeout = (option: 'handlerTimeout' | 'drainDelay' | 'shutdownTimeout', standard: () => Duration) =>
    read(() => checked(option, () => timeLimit(option, options[option] ?? standard(), reporter)))
  const appUrl = read(() => (options.appUrl === undefined ? undefined : origin('appUrl', options.appUrl)))
  const resolved = {
    environment,
    logger,
    reporter,
    logRequests: options.logRequests ?? environment === 'development',
    clock: options.clock ?? systemClock,
    trustProxy: options.trustProxy ?? false,
    bodyLimit: read(() => checked('bodyLimit', () => bytes(options.bodyLimit ?? '1mb'))),
    handlerTimeout: timeout('handlerTimeout', () => (environment === 'production' ? '60s' : 0)),
    multipart: read(() => checked('multipart', () => formLimits(options.multipart))),
    maxIssues: read(() => issueLimit(options.maxIssues)),
    tokenCookie: read(() => checkTokenCookie(options.tokenCookie)),
    credentials: read(() => checkCredentials(options.credentials)),
    keys: read(() => checkCookieKeys(options.keys, environment, reporter)),
    appUrl,
    trustedOrigins: read(() => trustedOrigins(appUrl, options.trustedOrigins)),
    openapi: options.openapi ?? {},
    health: read(() => resolveHealth(options.health)),
    drainDelay: timeout('drainDelay', () => delayOf(environment)),
    shutdownTimeout: timeout('shutdownTimeout', () => '10s'),
    server: read(() => checkedServer(options.server ?? {}, environment)),
    signals: options.signals ?? environment !== 'test',
    koa: { ...options.koa },
  }
  throwAll((count) => `${count} options of createApp() are wrong.`)
  return resolved
}

/** Returns the options that `checkConfig` accepts, so that their values are checked in the same run as the others. */
function soundPart(config: AppConfig): AppOptions {
  return Object.fromEntries(
    Object.entries(config ?? {}).filter(([name, value]) => isSound({ [name]: value })),
  )
}

function isSound(config: AppConfig): boolean {
  try {
    checkConfig(config, 'createApp()')
    return true
  } catch {
    return false
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
  const remedy = 'Write the maximum number of issues in a 422 response, such as 20.'
  throw wrongOption('maxIssues', `is ${String(maxIssues)}, not a whole number from 1 to 1000`, remedy)
}

function trustedOrigins(appUrl: string | undefined, listed: readonly string[] = []): readonly string[] {
  const own = appUrl === undefined ? [] : [appUrl]
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
  if ((parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') || /[?#*]/.test(url))
    throw wrongOption(
      option,
      'is not an absolute http or https address, or has a query or a wildcard',
      "Write it with its scheme, such as 'https://app.example.com'.",
    )
  return url.replace(/\/+$/, '')
}
