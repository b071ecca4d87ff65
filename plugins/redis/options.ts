import type { Redis, RedisOptions as ClientOptions } from 'ioredis'
import type { Duration } from 'mortar'
import { checkOptions, milliseconds, type OptionChecks } from 'mortar/kit'
import { fault } from './startup-codes.ts'

/** Options of `redis()`: an address, or a client. */
export interface RedisOptions {
  /** `redis://user:password@host:6379/0`, `rediss://…` for TLS, or `unix:///path`. */
  readonly url?: string
  /** ioredis options, which precede the brick's defaults: `{ keyPrefix, tls, sentinels, … }`. */
  readonly options?: ClientOptions
  /** A client of the application. The brick connects it if necessary, and then also closes it. */
  readonly client?: Redis
  /** Longest wait for Redis at the start; `'5s'` by default. */
  readonly startTimeout?: Duration
}

/** Options with checked values. Times are milliseconds. */
export type RedisSettings = ReturnType<typeof readSettings>

const RULES: OptionChecks<RedisOptions>['keys'] = {
  url: 'string',
  options: 'object',
  client: 'object',
  startTimeout: 'timeout',
}

/**
 * Checks the options. No message contains a URL, because it may contain a password.
 * @throws StartupError `MORTAR_REDIS_OPTION`, or for an unknown option.
 */
export function readSettings(options: RedisOptions) {
  checkOptions(options, { of: 'redis()', brick: 'redis', keys: RULES })
  checkPlace(options)
  const { url, client, options: own = {}, startTimeout = '5s' } = options
  return { url, options: own, client, startTimeout: milliseconds(startTimeout) }
}

function checkPlace({ url, options, client }: RedisOptions): void {
  const hasPlace = url !== undefined || options !== undefined
  if (client !== undefined && hasPlace)
    throw wrong('has a client beside url or options', 'Write either client, or url and options.')
  if (client !== undefined && typeof client.duplicate !== 'function')
    throw wrong('has a client that ioredis did not make', 'Write client: new Redis(…) from ioredis.')
  if (client === undefined && !hasPlace)
    throw wrong('has no address', "Write redis({ url: env.string('REDIS_URL') }).")
  if (url !== undefined && !/^(?:rediss?|unix):\/\/./.test(url))
    throw wrong('has a url that is not a Redis URL', 'Write redis://host:6379, rediss:// or unix:///path.')
}

function wrong(found: string, remedy: string): Error {
  return fault('MORTAR_REDIS_OPTION', `redis() ${found}.`, { remedy })
}
