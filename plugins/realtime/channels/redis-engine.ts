import { randomUUID } from 'node:crypto'
import { ServiceUnavailable, type Cradle } from 'mortar'
import { ignore, inTime } from 'mortar/kit'
import {
  PAGE,
  type ChannelEngine,
  type Member,
  type Place,
  type Reading,
  type StoredEvent,
} from './engine.ts'
import { SCRIPTS } from './redis-scripts.ts'
import { Sender, type NumberedEvent } from './redis-sender.ts'
import { fault } from './startup-codes.ts'

/** The first release with `XTRIM MINID`. */
const OLDEST = 6.2
/** Milliseconds for which a read waits for events, for its response after that, and for the response to a command. */
const BLOCK = 1000
const SILENCE = 2000
const PATIENCE = 5000
/** The highest second part of an id. */
const LAST = '18446744073709551615'

/** Options of the connection that waits: it ends with the first failure, and is silent while there is no event. */
const SIDE = {
  lazyConnect: true,
  retryStrategy: () => null,
  maxRetriesPerRequest: null,
  socketTimeout: undefined,
  commandTimeout: undefined,
}

// Braces keep the keys on one node of a cluster.
const EVENTS = '{mortar:channels}:events'
const eventsOf = (channel: string): string => `${EVENTS}:${channel}`
const membersOf = (channel: string): string => `{mortar:channels}:members:${channel}`
const senderOf = (process: string): string => `{mortar:channels}:sender:${process}`

type Entry = readonly [id: string, fields: readonly string[]]
type Given = readonly (string | number)[]

/** The used part of an ioredis client, with the scripts. */
type RedisClient = Readonly<
  Record<keyof typeof SCRIPTS, (keys: number, ...given: Given) => Promise<unknown>>
> & {
  defineCommand(name: string, definition: { readonly lua: string }): void
  duplicate(options: object): RedisClient
  on(event: 'error', listener: () => void): unknown
  disconnect(): void
  info(): Promise<string>
  xread(...given: Given): Promise<readonly [[name: string, entries: readonly Entry[]]] | null>
  xrange(...given: Given): Promise<readonly Entry[]>
  zrem(key: string, member: string): Promise<unknown>
}

/** Keeps events in streams, and users in sorted sets, of the service `redis`. */
export function redisEngine(services: Cradle): ChannelEngine {
  const { logger, outages } = services
  const client = services['redis'] as RedisClient
  const process = randomUUID()
  const reader = readerOf(client)
  const sender = new Sender((events) => soon(add(client, process, events)), outages)
  withScripts(client)
  return {
    pause: 0,
    isTransactional: false,
    async open() {
      const info = await soon(client.info())
      const [, version] = /redis_version:(\d+\.\d+)/.exec(info) ?? []
      if (Number(version) < OLDEST)
        throw fault(
          'MORTAR_CHANNELS_OPTION',
          `Channels need Redis ${OLDEST}, and this server has Redis ${version}.`,
          { remedy: 'Use a newer Redis, or another engine.' },
        )
      const policy = /maxmemory_policy:(\S+)/.exec(info)?.[1]
      if (policy !== undefined && policy !== 'noeviction')
        logger.warn(
          { brick: 'channels', policy },
          `Redis may delete events of channels, because its maxmemory-policy is '${policy}'. Set it to 'noeviction'.`,
        )
      return soon(headOf(client))
    },
    publish: (event, { isCommitted = false } = {}) => sender.publish(event, isCommitted),
    read: ({ at: after }, channels) =>
      channels === undefined ? reader.read(after) : soon(replay(client, after, channels)),
    async enter(members) {
      const keys = members.map(({ channel }) => membersOf(channel))
      const leases = members.map(({ user }) => `${process} ${user}`)
      await soon(client.mortarChannelsEnter(keys.length, ...keys, ...leases))
    },
    async leave(members) {
      const gone = members.map(({ channel, user }) => client.zrem(membersOf(channel), `${process} ${user}`))
      await soon(Promise.all(gone))
    },
    present: (channels) => soon(present(client, channels)),
    async close() {
      await sender.stop()
      reader.close()
    },
  }
}

/** @throws ServiceUnavailable 503 when Redis fails or is silent. */
async function soon<T>(work: Promise<T>): Promise<T> {
  try {
    return await inTime(work, PATIENCE, late)
  } catch (cause) {
    throw new ServiceUnavailable('Channels are not available. Try again shortly.', { cause, retryAfter: 5 })
  }
}

const late = (): Error => new Error('Redis did not respond in time.')

function withScripts(client: RedisClient): RedisClient {
  for (const [name, lua] of Object.entries(SCRIPTS)) client.defineCommand(name, { lua })
  return client
}

async function headOf(client: RedisClient): Promise<Place> {
  const [epoch, at, time] = (await client.mortarChannelsHead(1, EVENTS)) as [string, string, string]
  return { epoch, at: Number(at), time: Number(time) }
}

function add(client: RedisClient, process: string, events: readonly NumberedEvent[]): Promise<unknown> {
  const keys = [EVENTS, senderOf(process), ...events.map(({ channel }) => eventsOf(channel))]
  const values = events.flatMap(({ number, channel, event, data, keep }) => [
    number,
    channel,
    event,
    data,
    keep,
  ])
  return client.mortarChannelsAdd(keys.length, ...keys, ...values)
}

/** Reads events of some channels, each of which has a stream. */
async function replay(client: RedisClient, after: number, channels: readonly string[]): Promise<Reading> {
  const from = `(${after}-${LAST}`
  const lists = await Promise.all(
    channels.map((channel) => client.xrange(eventsOf(channel), from, '+', 'COUNT', PAGE)),
  )
  const events = lists.flat().map((entry) => eventOf(entry))
  // Later than the events: they are of this order.
  const head = await headOf(client)
  return { ...head, events: events.toSorted((one, other) => one.at - other.at).slice(0, PAGE) }
}

async function present(client: RedisClient, channels: readonly string[]): Promise<readonly Member[]> {
  const keys = channels.map((channel) => membersOf(channel))
  const lists = (await client.mortarChannelsPresent(keys.length, ...keys)) as readonly (readonly string[])[]
  return channels.flatMap((channel, index) =>
    lists[index]!.map((member) => ({ channel, user: member.slice(member.indexOf(' ') + 1) })),
  )
}

function eventOf([id, fields]: Entry): StoredEvent {
  const [at, time] = id.split('-').map(Number) as [number, number]
  return { at, time, channel: fields[3]!, event: fields[5]!, data: fields[7]! }
}

/** Waits for events of all channels on a connection of its own, which each failure ends. */
function readerOf(client: RedisClient): { read(after: number): Promise<Reading>; close(): void } {
  let side: RedisClient | undefined
  const close = (): void => {
    side?.disconnect()
    side = undefined
  }
  async function open(): Promise<RedisClient> {
    const made = withScripts(client.duplicate(SIDE))
    side = made
    // The error of each command is reported.
    made.on('error', ignore)
    // Begins the order of a server that has none.
    await headOf(made)
    return made
  }
  async function read(after: number, given?: RedisClient): Promise<Reading> {
    const from = given ?? side ?? (await open())
    const found = await from.xread('COUNT', PAGE, 'BLOCK', BLOCK, 'STREAMS', EVENTS, `${after}-${LAST}`)
    if (found !== null) {
      const [[, entries]] = found
      const events = entries.map((entry) => eventOf(entry))
      const { at, time } = events.at(-1)!
      return { events, epoch: entries.at(-1)![1][1]!, at, time }
    }
    const head = await headOf(from)
    return head.at > after ? read(after, from) : { ...head, events: [] }
  }
  return {
    close,
    async read(after) {
      try {
        // A connection that has worked may be dead; a new one may be slow.
        return await inTime(read(after), BLOCK + (side === undefined ? PATIENCE : SILENCE), late)
      } catch (error) {
        close()
        throw error
      }
    },
  }
}
