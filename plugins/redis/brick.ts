import type { Redis } from 'ioredis'
import { defineBrick, singleton, type Brick } from 'mortar'
import { warnOfLongNumber } from 'mortar/kit'
import { createClient } from './client.ts'
import { close } from './close.ts'
import { connect } from './connect.ts'
import { readSettings, type RedisOptions } from './options.ts'
import { STARTUP_CODES } from './startup-codes.ts'
import { watchConnection } from './watch.ts'

/** The service of the brick: an ioredis client. */
export interface RedisServices {
  readonly redis: Redis
}

// Tells other bricks the types of the services.
declare module 'mortar' {
  interface KnownServices extends RedisServices {}
}

/**
 * A connection to Redis: the service `redis`, an ioredis client. The brick connects it at the start, logs when the
 * connection is lost or back, and closes it at the stop. A client that was connected before stays open.
 * @throws StartupError for an invalid option; at the start `MORTAR_REDIS_UNREACHABLE` or `MORTAR_REDIS_REFUSED`.
 */
export function redis(options: RedisOptions): Brick<'redis', RedisServices> {
  const settings = readSettings(options)
  /** Clients that the brick has connected, with the function that ends their watch. */
  const opened = new WeakMap<Redis, () => void>()
  return defineBrick({
    name: 'redis',
    peers: { from: import.meta.url },
    startupCodes: STARTUP_CODES,
    services: { redis: singleton(() => createClient(settings)) },
    checks: { redis: ({ redis: client }) => client.ping() },
    start: async ({ redis: client, outages, logger }) => {
      warnOfLongNumber('startTimeout of redis()', options.startTimeout, logger)
      // A test may replace the client with an object that has no connection.
      if (typeof client.connect !== 'function' || client.status === 'ready') return
      await connect(client, settings.startTimeout)
      opened.set(client, watchConnection(client, outages))
    },
    stop: async ({ redis: client }) => {
      opened.get(client)?.()
      if (opened.delete(client)) await close(client)
    },
  })
}
