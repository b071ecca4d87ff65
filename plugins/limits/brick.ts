import { defineBrick, singleton, type Brick, type Cradle, type DeclaredLimit, type Limiter } from 'mortar'
import {
  createMemoryLimiter,
  createSharedLimiter,
  memoryLimitFindings,
  milliseconds,
  schemaFindings,
  warnOfMemoryLimits,
  warnOfLongNumber,
} from 'mortar/kit'
import { limitCommands, type Known } from './commands.ts'
import { TABLE } from './database/database-counters.ts'
import { createDatabaseStore } from './database/database-store.ts'
import { checkLimitsOptions, type LimitsOptions, type RedisClient } from './options.ts'
import { createRedisStore } from './redis-store.ts'
import type { SharedStore } from './shared-store.ts'
import { fault, STARTUP_CODES } from './startup-codes.ts'

/** The service of the brick. `Rules` are the names of the rules. */
export interface LimitsServices<Rules extends string = string> {
  readonly limiter: Limiter<Rules>
}

// Tells other bricks the types of the services.
declare module 'mortar' {
  interface KnownServices extends LimitsServices {}
}

/** Events of the brick. */
export interface LimitsEvents {
  /** The store fails, and limits count in the memory of each process. */
  'limits.degraded': { readonly error: string }
  /** The store works again. */
  'limits.restored': object
}

/**
 * Counts the requests of limited routes: the service `limiter`, which the route key `limit` and the sign-in use.
 * @throws StartupError `MORTAR_LIMITS_OPTION` for an invalid option, at the start `MORTAR_LIMITS_TABLE` without a table.
 */
export function limits<const Rules extends string = never>(
  options: LimitsOptions<Rules> = {},
): Brick<'limits', LimitsServices<Rules>> {
  checkLimitsOptions(options)
  const { store = 'memory', rules = {}, timeout = '1s' } = options
  const patience = milliseconds(timeout)
  const known = new WeakMap<Limiter, Known>()

  function createLimiter(services: Cradle): Limiter {
    const { clock } = services
    const shared = storeOf(store, services, patience)
    if (shared === undefined) return declaring(createMemoryLimiter({ clock, rules }))
    let isDegraded = false
    services.gauges.add('limits_degraded', {
      help: '1 while the store of the limits fails, so that limits are counted in memory.',
      combine: 'max',
      read: () => Number(isDegraded),
    })
    const onChange = (error?: unknown): void => {
      isDegraded = error !== undefined
      report(services, error)
    }
    return declaring(createSharedLimiter({ store: shared, clock, rules, onChange, patience }), shared)
  }

  function declaring(counting: Limiter, shared?: SharedStore): Limiter {
    const declared = new Map<string, DeclaredLimit>()
    const limiter = { ...counting, declare: (limit: DeclaredLimit) => void declared.set(limit.name, limit) }
    known.set(limiter, { declared, store: shared })
    return limiter
  }

  /** An application may replace the service. */
  const knownOf = (limiter: Limiter): Known => known.get(limiter) ?? NOTHING_KNOWN

  return defineBrick({
    name: 'limits',
    peers: { from: import.meta.url },
    requires: REQUIRED[typeof store === 'string' ? store : 'client'],
    startupCodes: STARTUP_CODES,
    services: { limiter: singleton(createLimiter) },
    start: async (services) => {
      warnOfLongNumber('timeout of limits()', options.timeout, services.logger)
      if (!services.limiter.isShared) warnOfMemoryLimits('limits', services)
      await knownOf(services.limiter).store?.open?.()
    },
    stop: ({ limiter }) => knownOf(limiter).store?.close?.(),
    doctor: async (services) => [
      ...(services.limiter.isShared ? [] : memoryLimitFindings(services.environment)),
      ...(await schemaFindings(services, store === 'database' ? [TABLE] : [], noTable)),
    ],
    commands: limitCommands(knownOf),
  })
}

const noTable = () => fault('MORTAR_LIMITS_TABLE', 'The schema module lacks the table of the limits.')

const NOTHING_KNOWN: Known = { declared: new Map(), store: undefined }

const REQUIRED = { memory: [], client: [], database: ['db', 'sideConnections'], redis: ['redis'] } as const

function storeOf(
  store: NonNullable<LimitsOptions['store']>,
  services: Cradle,
  patience: number,
): SharedStore | undefined {
  if (store === 'memory') return undefined
  if (store === 'database') return createDatabaseStore(services)
  return createRedisStore(store === 'redis' ? (services['redis'] as RedisClient) : store, patience)
}

/**
 * The log has the reason: the stores name keys by hashes, so a message contains none. The event has only the name, because
 * its listeners may send it elsewhere.
 */
function report({ events, outages }: Cradle, error: unknown): void {
  const bus = events.typed<LimitsEvents>()
  if (error === undefined) {
    outages.end('limits')
    bus.emit('limits.restored', {})
    return
  }
  const { name, code } = error instanceof Error ? (error as Failure) : UNKNOWN
  const fields = { brick: 'limits', error: name, ...(code !== undefined && { code }) }
  outages.begin({ part: 'limits', error, message: IN_MEMORY, fields })
  bus.emit('limits.degraded', { error: name })
}

const IN_MEMORY = 'The store of the limits fails, so limits are counted in memory'

/** An error of a driver may have a code. */
type Failure = Error & { readonly code?: unknown }

const UNKNOWN: Failure = new Error('unknown')
