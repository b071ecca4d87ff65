import { randomBytes } from 'node:crypto'
import type { Clock } from 'mortar'
import { PAGE, SPARE, type ChannelEngine, type StoredEvent } from './engine.ts'

/** Keeps events and users in the memory of this process, for applications of one process. */
export function memoryEngine(clock: Clock): ChannelEngine {
  const epoch = newEpoch()
  const present = new Map<string, Set<string>>()
  let events: (StoredEvent & { readonly until: number })[] = []
  let last = 0
  let time = clock.now()
  const now = (): number => (time = Math.max(time, clock.now()))
  return {
    pause: 1000,
    isTransactional: false,
    open: async () => ({ epoch, at: last, time: now() }),
    async publish({ keep, ...event }) {
      events.push({ ...event, at: ++last, time: now(), until: time + keep + SPARE })
    },
    async read({ at: after }, channels) {
      // Numbers have no gaps at the end, where new events are.
      const from = events.findLastIndex(({ at }) => at <= after) + 1
      const found: StoredEvent[] = []
      for (let index = from; index < events.length && found.length < PAGE; index++)
        if (channels === undefined || channels.includes(events[index]!.channel)) found.push(events[index]!)
      return { events: found, epoch, at: found.length < PAGE ? last : found.at(-1)!.at, time: now() }
    },
    async tidy() {
      events = events.filter(({ until }) => until >= now())
    },
    async enter(members) {
      for (const { channel, user } of members)
        present.set(channel, (present.get(channel) ?? new Set()).add(user))
    },
    async leave(members) {
      for (const { channel, user } of members) {
        present.get(channel)?.delete(user)
        if (present.get(channel)?.size === 0) present.delete(channel)
      }
    },
    present: async (channels) =>
      channels.flatMap((channel) => [...(present.get(channel) ?? [])].map((user) => ({ channel, user }))),
  }
}

/** Returns a new name of an order. */
export function newEpoch(): string {
  return randomBytes(6).toString('hex')
}
