import type { ServerOptions as TlsServerOptions } from 'node:https'
import { type Environment, defaultHost } from '../../support/env/environment.ts'
import type { Logger } from '../../contracts/logger.ts'
import { StartupError } from '../../errors/startup-error.ts'
import { bytes, isSize, type Size } from '../../support/bytes.ts'
import { checkOptions, type OptionChecks } from '../../support/check-options.ts'
import { isTimeout, seconds, TIME_LIMIT, type Duration, warnOfLongNumber } from '../../support/duration.ts'

/** Limits of an HTTP server. Durations are seconds or a duration such as `'75s'`; 0 means no limit. */
export interface ServerOptions {
  /** Time that an idle connection stays open. 75 s in production, else 5 s. */
  readonly keepAliveTimeout?: Duration
  /** Longest time for the headers of a request. 30 s by default. */
  readonly headersTimeout?: Duration
  /** Longest time for a whole request, body included. 5 minutes by default. */
  readonly requestTimeout?: Duration
  /** Maximum connections; further ones are closed without a response. No limit by default. */
  readonly maxConnections?: number
  /** Largest request headers: bytes or a size. 16 kB by default. */
  readonly maxHeaderSize?: Size
}

/** Address and server options of `listen()`. */
export interface ListenOptions extends ServerOptions {
  /** 3000 by default; 0 picks a free port. */
  readonly port?: number
  /** Address to bind. By default `HOST`, else all interfaces in production and `127.0.0.1` elsewhere. */
  readonly host?: string
  /** A Unix socket in place of host and port. */
  readonly path?: string
  /** Serves HTTPS: options of `node:https`, such as `{ key, cert }`. */
  readonly tls?: TlsServerOptions
}

/** Address to bind: a Unix socket, or a port of one or all addresses. */
export type BindAddress =
  { readonly path: string } | { readonly port: number; readonly host: string | undefined }

/** Listen options with defaults filled in: times in milliseconds, sizes in bytes. */
export interface ListenPlan {
  readonly address: BindAddress
  readonly tls: TlsServerOptions | undefined
  readonly keepAliveTimeout: number
  readonly headersTimeout: number
  readonly requestTimeout: number
  /** Interval in which Node checks for connections that exceed their limits. */
  readonly connectionsCheckingInterval: number
  readonly maxConnections: number | undefined
  readonly maxHeaderSize: number | undefined
}

const TIME = ['number', 'string'] as const
const OPTIONS: OptionChecks<ListenOptions>['keys'] = {
  port: 'number',
  host: 'string',
  path: 'string',
  tls: 'object',
  keepAliveTimeout: TIME,
  headersTimeout: TIME,
  requestTimeout: TIME,
  maxConnections: 'number',
  maxHeaderSize: TIME,
}
const HEADERS_TIMEOUT = '30s'
const REQUEST_TIMEOUT = '5m'
/** Milliseconds. A client that exceeds a limit is disconnected at most this much later. */
const LONGEST_INTERVAL = 5000
/** Converts the arguments of `listen(port, host)` and `listen(options)` to options. */
export function listenOptions(
  given: number | ListenOptions | undefined,
  host: string | undefined,
): ListenOptions {
  if (typeof given === 'object') return given
  return { ...(given === undefined ? {} : { port: given }), ...(host === undefined ? {} : { host }) }
}

/**
 * Fills in the defaults of an environment, and warns of time limits above an hour without a unit.
 * @throws StartupError (`MORTAR_LISTEN`) with the name of the invalid option.
 */
export function planListening(
  options: ListenOptions,
  environment: Environment,
  reporter?: Pick<Logger, 'warn'>,
): ListenPlan {
  checkOptions(options, { of: 'listen()', code: 'MORTAR_LISTEN', keys: OPTIONS })
  if (reporter !== undefined)
    for (const limit of ['keepAliveTimeout', 'headersTimeout', 'requestTimeout'] as const)
      warnOfLongNumber(limit, options[limit], reporter)
  const keepAlive = duration('keepAliveTimeout', options, environment === 'production' ? '75s' : '5s')
  const request = duration('requestTimeout', options, REQUEST_TIMEOUT)
  const headers = duration('headersTimeout', options, HEADERS_TIMEOUT)
  if (options.headersTimeout !== undefined && request > 0 && headers > request)
    throw wrong('headersTimeout', 'is longer than requestTimeout', 'Raise requestTimeout, or lower it.')
  const headersTimeout = request > 0 ? Math.min(headers, request) : headers
  return {
    address: addressOf(options, environment),
    tls: options.tls,
    keepAliveTimeout: keepAlive,
    headersTimeout,
    requestTimeout: request,
    connectionsCheckingInterval: checkingInterval([headersTimeout, request]),
    maxConnections: maxConnections(options),
    maxHeaderSize: maxHeaderSize(options),
  }
}

function addressOf({ path, port = 3000, host }: ListenOptions, environment: Environment): BindAddress {
  if (path === undefined) return { port, host: host || defaultHost(environment) }
  const length = Buffer.byteLength(path)
  if (length > 0 && length <= LONGEST_SOCKET_PATH) return { path }
  const expected = `is not the path of a Unix socket, which has 1 to ${LONGEST_SOCKET_PATH} bytes`
  throw wrong('path', expected, 'Write a path such as /run/app.sock.')
}

/**
 * Longest path of a Unix socket that macOS accepts, in bytes. Linux accepts a few more; Node 20 cuts longer ones and
 * reports the whole path.
 */
export const LONGEST_SOCKET_PATH = 103

/** Returns a quarter of the shortest limit, so that a slow client is disconnected near its limit. */
function checkingInterval(limits: readonly number[]): number {
  const shortest = Math.min(...limits.filter((limit) => limit > 0))
  return Math.max(10, Math.min(Math.ceil(shortest / 4), LONGEST_INTERVAL))
}

/** @returns milliseconds. */
function duration(
  option: 'keepAliveTimeout' | 'headersTimeout' | 'requestTimeout',
  options: ListenOptions,
  standard: string,
): number {
  const value = options[option] ?? standard
  if (isTimeout(value)) return Math.ceil(seconds(value) * 1000)
  throw wrong(option, `is ${value}`, `Write ${TIME_LIMIT}.`)
}

function maxConnections({ maxConnections: count }: ListenOptions): number | undefined {
  if (count === undefined || (Number.isInteger(count) && count > 0)) return count
  throw wrong('maxConnections', 'is not a whole number from 1', 'Write how many, or leave it out.')
}

function maxHeaderSize({ maxHeaderSize: size }: ListenOptions): number | undefined {
  if (size === undefined) return undefined
  if (isSize(size) && bytes(size) >= 1) return bytes(size)
  throw wrong('maxHeaderSize', 'is not a size', "Write bytes or a size such as '16kb'.")
}

function wrong(option: string, found: string, remedy: string): StartupError {
  return new StartupError(`The option ${option} of listen() ${found}.`, { code: 'MORTAR_LISTEN', remedy })
}

const ADD = 'Write bricks: [ … ], or app.use(middleware).'

/** Remedies for options that other frameworks accept, and that belong elsewhere here. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  port: 'Pass it to listen(): app.listen(port, host).',
  host: 'Pass it to listen(): app.listen(port, host).',
  cors: 'Use the middleware of @koa/cors: app.use(fromKoa(cors({ … }))).',
  plugins: ADD,
  middleware: ADD,
  middlewares: ADD,
}
