import type { Environment } from 'mortar'
import { checkOptions, type OptionChecks } from 'mortar/kit'
import { fault } from './startup-codes.ts'

/** Options of the metrics brick. */
export interface MetricsOptions {
  /** Path of the metrics; `/metrics` by default. */
  readonly path?: string
  /** Bearer token that a reader has to send. Production needs it, unless `port` is set. */
  readonly token?: string | undefined
  /** Port of a server for the metrics alone. The application itself then has no metrics path. */
  readonly port?: number | undefined
  /** Address of that server; `127.0.0.1` by default. */
  readonly host?: string
  /** First part of the names of all metrics, such as `notes_`. */
  readonly prefix?: string
  /** Upper bounds of the histogram of durations, in seconds. */
  readonly buckets?: readonly number[]
  /** False for no metrics of the process: memory, CPU, garbage collection, event loop. */
  readonly process?: boolean
}

/** The options with their defaults. */
export type MetricsSettings = ReturnType<typeof readSettings>

const RULES: OptionChecks<MetricsOptions>['keys'] = {
  path: 'string',
  token: 'string',
  port: 'number',
  host: 'string',
  prefix: 'string',
  buckets: 'list',
  process: 'boolean',
}

/** The bounds that OpenTelemetry's semantic conventions recommend for `http.server.request.duration`. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

/** Characters of a token. A shorter one can be guessed by trying. */
const LEAST_TOKEN = 16
const SOME_TOKEN = 'x'.repeat(LEAST_TOKEN)

/** @throws StartupError `MORTAR_METRICS_OPTION`, or `MORTAR_OPTION` for an unknown option. */
export function readSettings(options: MetricsOptions) {
  checkOptions(options, { of: 'metrics()', brick: 'metrics', keys: RULES })
  const { path = '/metrics', token, port, host, prefix = '', buckets = BUCKETS } = options
  const wrong = RULES_OF_VALUES.map((rule) => rule(options)).find((found) => found !== undefined)
  if (wrong !== undefined) throw fault('MORTAR_METRICS_OPTION', `The metrics brick's ${wrong}.`)
  return {
    path,
    token,
    server: port === undefined ? undefined : { port, host: host ?? '127.0.0.1' },
    prefix,
    buckets,
    process: options.process ?? true,
  }
}

/** @throws StartupError `MORTAR_METRICS_OPEN` in production without token and port. */
export function refuseOpen({ token, server }: MetricsSettings, environment: Environment): void {
  if (environment === 'production' && token === undefined && server === undefined)
    throw fault('MORTAR_METRICS_OPEN', 'The metrics brick has neither a token nor a port in production.')
}

/** The option with a wrong value, and its fault; undefined for a valid value. */
type Rule = (options: MetricsOptions) => string | undefined

const RULES_OF_VALUES: readonly Rule[] = [
  ({ path = '/' }) => unless(/^\/[\w.~/-]*$/.test(path), '`path` has parameters or unsafe characters'),
  ({ token = SOME_TOKEN }) =>
    unless(/^[!-~]+$/.test(token), '`token` is not a word of printable ASCII characters'),
  ({ token = SOME_TOKEN }) =>
    unless(token.length >= LEAST_TOKEN, `\`token\` has fewer than ${LEAST_TOKEN} characters`),
  ({ port = 0 }) => unless(isPort(port), '`port` is not a number from 0 to 65535'),
  ({ host, port }) => unless(host === undefined || port !== undefined, '`host` has no `port`'),
  ({ prefix = 'a' }) =>
    unless(/^(?:[a-z_]\w*)?$/i.test(prefix), "`prefix` is not the beginning of a metric's name"),
  ({ buckets = BUCKETS }) =>
    unless(isAscending(buckets), '`buckets` is not an ascending list of numbers above 0'),
]

function unless(isRight: boolean, found: string): string | undefined {
  return isRight ? undefined : found
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 0 && port <= 65_535
}

function isAscending(buckets: readonly unknown[]): boolean {
  const lower = [0, ...buckets]
  return (
    buckets.length > 0 &&
    buckets.every((bound, index) => Number.isFinite(bound) && (bound as number) > (lower[index] as number))
  )
}
