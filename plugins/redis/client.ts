import { createRequire } from 'node:module'
import type * as IoRedis from 'ioredis'
import type { Redis } from 'ioredis'
import { stopTimerOnClose } from './compat/ioredis.ts'
import type { RedisSettings } from './options.ts'

const require = createRequire(import.meta.url)

/** Milliseconds after which a connection that does not respond is closed, so that a silent network heals. */
const SILENCE = 5000

/** Milliseconds in which a server that accepts no writes ends its connections at most once. */
const READ_ONLY_PAUSE = 1000
/** The error of a replica, also from inside a script of an older server. */
const READ_ONLY = /^READONLY |-READONLY /

/**
 * Returns the client of the application, or makes one that connects later. A command waits for a lost connection for
 * one attempt to connect and then fails, so that requests do not wait for Redis.
 */
export function createClient({ url, options, client }: RedisSettings): Redis {
  if (client !== undefined) return client
  // Its 100 modules are loaded only to make a client.
  const { Redis } = require('ioredis') as typeof IoRedis
  const effective = {
    connectTimeout: SILENCE,
    disconnectTimeout: 500,
    socketTimeout: SILENCE,
    maxRetriesPerRequest: 1,
    reconnectOnError: leavesReplica(),
    ...options,
    lazyConnect: true,
  }
  return stopTimerOnClose(url === undefined ? new Redis(effective) : new Redis(url, effective), Redis)
}

/**
 * After a failover the connection may stay open, to a server that has become a replica. A new connection leads to the
 * other server. The command itself fails, because it could be part of a transaction.
 */
function leavesReplica(): (error: Error) => boolean {
  let last = -Infinity
  return ({ message }) => {
    const now = performance.now()
    if (!READ_ONLY.test(message) || now - last < READ_ONLY_PAUSE) return false
    last = now
    return true
  }
}

/** The address for messages, without user and password. */
export function addressOf({ options }: Pick<Redis, 'options'>): string {
  const { host, port, path, db, sentinels } = options
  if (sentinels?.length) return `the sentinels of '${String(options.name)}'`
  return path ? `the socket ${path}` : `${host ?? 'localhost'}:${port ?? 6379}/${db ?? 0}`
}
