import type { Transaction } from 'mortar/kit'

/** Events of one `read`, and channels or users of one call. */
export const PAGE = 200

/** Milliseconds for which an engine keeps events longer than promised, because clients learn its time late. */
export const SPARE = 60_000

/** Milliseconds after which a user of a dead process is not there any more. */
export const LEASE = 10_000

/** An event that is published. */
export interface NewEvent {
  readonly channel: string
  readonly event: string
  /** JSON. */
  readonly data: string
  /** Milliseconds. */
  readonly keep: number
}

/** An event with its place in the order of all events. */
export interface StoredEvent extends Omit<NewEvent, 'keep'> {
  /** Its number in the order of all events, which is the same in every process. */
  readonly at: number
  /** When it was numbered, in milliseconds by the clock of the engine. */
  readonly time: number
}

/** A place in the order of all events. */
export interface Place {
  /** Identifies the order. Another one means that the numbers begin again. */
  readonly epoch: string
  readonly at: number
  /** A moment until which all events have numbers up to `at`, in milliseconds by the clock of the engine. */
  readonly time: number
  /** When `at` was given, of an engine whose numbers can be given again. */
  readonly numbered?: number
}

/** Events after a number in their order, at most `PAGE`, and the place after them. */
export interface Reading extends Place {
  readonly events: readonly StoredEvent[]
  /** True if numbers before were given again, as after the restore of a backup. */
  readonly isRewritten?: boolean
}

/** A user in a channel. */
export interface Member {
  readonly channel: string
  readonly user: string
}

/** State of the transaction of an event. */
export interface PublishHow {
  readonly tx?: Transaction
  /** True if its transaction has committed: it must not be lost. */
  readonly isCommitted?: boolean
}

/**
 * Keeps the events of all channels in one order, in which a committed event never comes before one that was read, and knows
 * which users are there.
 */
export interface ChannelEngine {
  /** Milliseconds between two reads. 0 for an engine whose `read` waits for events. */
  readonly pause: number
  /** True if an event becomes part of the transaction. Others get events after the commit. */
  readonly isTransactional: boolean
  open(): Promise<Place>
  publish(event: NewEvent, how?: PublishHow): Promise<void>
  /** Reads events after a place: of every channel, without gaps in the numbers, or of some. */
  read(after: Pick<Place, 'at' | 'time'>, channels?: readonly string[]): Promise<Reading>
  /** Deletes events that nobody can ask for any more, unless other calls do it. */
  tidy?(): Promise<void>
  /** Makes users present for the time of a lease, or renews the lease: at most `PAGE`. */
  enter(members: readonly Member[]): Promise<void>
  /** Ends the leases of this process. */
  leave(members: readonly Member[]): Promise<void>
  /** Users of all processes in at most `PAGE` channels, in any order. A user of two processes may be there twice. */
  present(channels: readonly string[]): Promise<readonly Member[]>
  /** Ends a read that waits. */
  close?(): Promise<void>
}

/** Divides a list into lists of at most `size`. */
export function* pagesOf<Item>(items: readonly Item[], size: number = PAGE): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size)
}

/** Returns the id of an event for clients. */
export function idOf({ epoch, at, time }: Place): string {
  return `${epoch}.${time}.${at}`
}

/** Reads an id; undefined for other text. */
export function placeOf(id: string): Place | undefined {
  const [, epoch, time, at] = /^(\w{1,40})\.(\d{1,15})\.(\d{1,16})$/.exec(id) ?? []
  return epoch === undefined ? undefined : { epoch, at: Number(at), time: Number(time) }
}
