import type { Authenticator, Cradle, Infer, Logger } from 'mortar'
import {
  compileGuard,
  describeError,
  followTransactions,
  ignore,
  openTransaction,
  optionalService,
  requireInProduction,
  runnerOf,
  whenCommitted,
  type DataSourceLike,
  type Guard,
  type Transaction,
} from 'mortar/kit'
import type { ChannelAddress, EventSchemas } from './channel.ts'
import { databaseEngine } from './database-engine.ts'
import type { ChannelEngine, NewEvent } from './engine.ts'
import { Follower } from './follower.ts'
import { Hub } from './hub.ts'
import { loadChannels, type LoadedChannel, type LoadedChannels } from './load-channels.ts'
import { memoryEngine } from './memory-engine.ts'
import type { Settings } from './options.ts'
import { Presence } from './presence.ts'
import { addressOf, newEvent } from './publication.ts'
import { redisEngine } from './redis-engine.ts'

/** Milliseconds between two looks at the users, two ids for clients without events, and two deletions of old events. */
const LOOK = 1000
const TELL = 15_000
const TIDY = 30_000

/** Options of one publication. */
export interface PublishOptions {
  /**
   * The manager of a transaction: the event is published when it commits, and never if it is rolled back. By default the
   * transaction that `db.transaction` has open around this call; `false` for none.
   */
  readonly tx?: unknown
}

/**
 * Publishes an event to the subscribers of a channel in all processes.
 * @throws TypeError for data or parameters that do not match their schema, with `issues`; and the error of the engine.
 */
export type Publish = <Events extends EventSchemas, Name extends keyof Events & string>(
  to: ChannelAddress<Events>,
  event: Name,
  data: Infer<Events[Name]>,
  options?: PublishOptions,
) => Promise<void>

/** The service `channels`. */
export interface Channels {
  readonly publish: Publish
  /** The sorted ids of the users that are in a channel with `presence`, over all processes. */
  present(to: ChannelAddress): Promise<readonly string[]>
}

/** Parts of the brick in one application. */
export interface Runtime {
  readonly channels: Channels
  /** @throws TypeError before the start. */
  readonly hub: Hub
  start(): Promise<void>
  /** Begins the delivery of events. */
  work(): void
  stop(): Promise<void>
}

const runtimes = new WeakMap<object, Runtime>()

/** Returns what belongs to the service `channels` of an application. */
export function runtimeOf(channels: unknown): Runtime {
  const found = runtimes.get(channels as object)
  if (found === undefined) throw new TypeError('The service `channels` is not that of the channels brick.')
  return found
}

export function createRuntime(settings: Settings, services: Cradle): Runtime {
  const { logger, outages } = services
  const db = optionalService<DataSourceLike>(services, 'db')
  const engine = engineOf(settings, services)
  const presence = new Presence(engine, (...change) => hub?.report(...change))
  const follower = new Follower({
    engine,
    outages,
    deliver: (reading) => hub?.deliver(reading),
    reset: (place) => hub?.reset(place),
  })
  const timers: NodeJS.Timeout[] = []
  let hub: Hub | undefined
  const known = (): Hub => {
    if (hub === undefined) throw new TypeError('The channels have not started.')
    return hub
  }
  const channels: Channels = {
    publish: publisher({ engine, follower, db, logger, known }),
    async present(to) {
      return presence.findUsers(await addressOf(known().channels, to))
    },
  }
  const runtime: Runtime = {
    channels,
    get hub() {
      return known()
    },
    async start() {
      if (db !== undefined) followTransactions(db)
      const found = await loadChannels(settings.directory)
      const { channelsPerConnection } = settings
      const parts = { engine, follower, presence, channelsPerConnection }
      hub = new Hub(found, { ...parts, ...guardsOf(found, services) })
      const place = await requireInProduction(services, 'channels', () => engine.open())
      if (place) follower.place = place
    },
    work() {
      follower.start(follower.place)
      timers.push(...workOf({ engine, presence, hub: known(), judgeEvery: settings.judgeEvery }))
    },
    async stop() {
      for (const timer of timers) clearInterval(timer)
      await presence.stop().catch(ignore)
      await follower.stop()
    },
  }
  runtimes.set(channels, runtime)
  return runtime
}

interface Work {
  readonly engine: ChannelEngine
  readonly presence: Presence
  readonly hub: Hub
  readonly judgeEvery: number
}

function workOf({ engine, presence, hub, judgeEvery }: Work): NodeJS.Timeout[] {
  return [
    repeat(() => presence.tick(), LOOK),
    repeat(() => hub.tellPlace(), TELL),
    repeat(() => engine.tidy?.(), TIDY),
    repeat(() => hub.judgeAll(), judgeEvery),
  ]
}

/** Repeats work, one run at a time. Errors are those of an engine that is away, which its reads report. */
function repeat(act: () => unknown, every: number): NodeJS.Timeout {
  let isBusy = false
  const run = async (): Promise<void> => {
    if (isBusy) return
    isBusy = true
    try {
      await act()
    } catch {
      // Repeated anyway.
    }
    isBusy = false
  }
  return setInterval(() => void run(), every * (0.95 + 0.1 * Math.random())).unref()
}

function engineOf({ engine }: Settings, services: Cradle): ChannelEngine {
  if (engine === 'database') return databaseEngine(services)
  if (engine === 'redis') return redisEngine(services)
  return memoryEngine(services.clock)
}

interface PublisherParts {
  readonly engine: ChannelEngine
  readonly follower: Follower
  readonly db: DataSourceLike | undefined
  readonly logger: Logger
  readonly known: () => Hub
}

function publisher({ engine, follower, db, logger, known }: PublisherParts): Publish {
  const published = (): void => {
    known().totals.published++
    follower.wake()
  }
  const send = (event: NewEvent, isCommitted = false): Promise<void> =>
    engine.publish(event, { isCommitted }).then(published)
  const sendNow = (event: NewEvent): void =>
    void send(event, true).catch((error: unknown) =>
      logger.error({ brick: 'channels', err: describeError(error) }, 'A committed event was not published'),
    )
  return async (to, name, data, { tx: given } = {}) => {
    const event = await newEvent(known().channels, to, { name, data })
    const tx = given === undefined ? db && openTransaction(db) : (given as Transaction | false) || undefined
    if (tx === undefined) return send(event)
    const runner = runnerOf(tx, 'publish')
    if (engine.isTransactional) await engine.publish(event, { tx })
    if (whenCommitted(runner, engine.isTransactional ? published : () => sendNow(event))) return
    if (!engine.isTransactional)
      throw new TypeError(
        "publish knows the end of `db.transaction()` only, unless the engine is 'database'.",
      )
  }
}

/** Returns the guards of channels. @throws StartupError for a guard that cannot be evaluated. */
export function guardsOf(
  { all }: LoadedChannels,
  services: Cradle,
): { readonly guards: ReadonlyMap<LoadedChannel, Guard>; readonly authenticator: Authenticator | undefined } {
  const { environment, logger } = services
  const authenticator = optionalService<Authenticator>(services, 'authenticator')
  const guards = new Map<LoadedChannel, Guard>()
  for (const channel of all) {
    const { auth, name, file } = channel
    if (auth === false) continue
    const guarded = { auth, name: `The channel ${name} (${file})`, file }
    guards.set(channel, compileGuard(guarded, { environment, logger, authenticator }))
  }
  return { guards, authenticator }
}
