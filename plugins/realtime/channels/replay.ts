import { PAGE, type ChannelEngine, type Place, type StoredEvent } from './engine.ts'
import { eventFrame, placeFrame } from './frames.ts'
import type { Subscription } from './subscriptions.ts'

/** Missed events of a client. */
export interface Missed {
  /** Its subscriptions that begin now. */
  readonly open: readonly Subscription[]
  /** Those of them whose missed events are all there. */
  readonly known: readonly Subscription[]
  readonly from: Place
  readonly to: Place
}

/**
 * Sends missed events in one order, each once. Newer events wait, because an id covers all channels of a connection.
 * @throws the error of the engine.
 */
export async function replay(
  engine: ChannelEngine,
  { open, known, from, to }: Missed,
  totals: { delivered: number },
): Promise<void> {
  const { client } = open[0]!
  const held: Subscription['held'] = []
  for (const each of open) each.held = held
  const byName = new Map(known.map((each) => [each.name, each]))
  const send = (event: StoredEvent): void => {
    if (event.at > to.at || !byName.get(event.channel)!.isOpen) return
    client.delivered++
    totals.delivered++
    client.outlet.write(eventFrame(event, to.epoch))
  }
  for (let after: Pick<Place, 'at' | 'time'> = from; after.at < to.at && client.outlet.isOpen;) {
    const { events, epoch, isRewritten } = await engine.read(after, [...byName.keys()])
    // The follower resets the client.
    if (epoch !== to.epoch) return
    if (isRewritten) {
      for (const channel of byName.keys()) client.outlet.write(placeFrame('reset', to, { channel }))
      return
    }
    for (const event of events) {
      send(event)
      // A page may be larger than what may wait for a client.
      await client.outlet.drained()
    }
    after = events.length < PAGE ? to : events.at(-1)!
  }
}

/** Sends what has waited in the order of its arrival, and what arrives meanwhile. It may be more than may wait for a client. */
export async function release(open: readonly Subscription[]): Promise<void> {
  const held = open[0]?.held ?? []
  for (let next = held.shift(); next !== undefined; next = held.shift()) {
    if (next.to.isOpen) next.to.send(next.frame)
    await next.to.client.outlet.drained()
  }
  for (const each of open) each.held = undefined
}

/** True if no event after a place can have been deleted. */
export function isKnown(place: Place | undefined, now: Place, { found }: Subscription): boolean {
  if (place === undefined || place.epoch !== now.epoch || place.at > now.at) return false
  if (place.at === now.at && now.numbered !== undefined && now.numbered > place.time) return false
  return place.time >= now.time - found.loaded.keep
}
