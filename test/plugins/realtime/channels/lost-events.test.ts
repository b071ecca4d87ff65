import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { inTime } from 'mortar/kit'
import {
  idOf,
  PAGE,
  type ChannelEngine,
  type Place,
  type Reading,
  type StoredEvent,
} from '../../../../plugins/realtime/channels/engine.ts'
import { Hub } from '../../../../plugins/realtime/channels/hub.ts'
import { Follower } from '../../../../plugins/realtime/channels/follower.ts'
import { memoryEngine } from '../../../../plugins/realtime/channels/memory-engine.ts'
import { Presence } from '../../../../plugins/realtime/channels/presence.ts'
import { isKnown, replay, type Missed } from '../../../../plugins/realtime/channels/replay.ts'
import { redisEngine } from '../../../../plugins/realtime/channels/redis-engine.ts'
import { Sender } from '../../../../plugins/realtime/channels/redis-sender.ts'
import { Client, Subscription, type Frame } from '../../../../plugins/realtime/channels/subscriptions.ts'
import { keptAfter } from '../../../support/collect-garbage.ts'
import { deferred } from '../../../support/deferred.ts'

const event = (at: number): StoredEvent => ({ channel: 'news', event: 'count', data: '1', at, time: at })
const reading = (epoch: string, at: number, ...events: number[]): Reading => ({
  epoch,
  at,
  time: at,
  events: events.map((each) => event(each)),
})

/** The missed events 6 to 1,005 of a client, whose connection ends with the event `until`. */
function missedBy(texts: string[], until = Infinity): Missed {
  const outlet = {
    get isOpen() {
      return texts.length < until
    },
    write: ({ text }: { text: string }) => texts.push(text),
    drained: async () => undefined,
  }
  const one = { name: 'news', isOpen: true, client: { delivered: 0, outlet } }
  return { open: [one], known: [one], from: reading('a', 5), to: reading('a', 1005) } as never
}

describe('Channels that have lost events', () => {
  afterEach(() => mock.timers.reset())

  const cases: Readonly<Record<string, readonly [next: Reading, reset?: Place]>> = {
    'all events that follow': [reading('a', 9, 6, 7, 8, 9)],
    'no event': [reading('a', 5)],
    'events after some that are deleted': [reading('a', 9, 8, 9), { epoch: 'a', at: 7, time: 9 }],
    'a place without its events': [reading('a', 9), { epoch: 'a', at: 9, time: 9 }],
    'a place that is earlier': [reading('a', 2), { epoch: 'a', at: 2, time: 2 }],
    'another order': [reading('b', 6, 6), { epoch: 'b', at: 5, time: 6 }],
    'numbers that were given again': [
      { ...reading('a', 6, 6), isRewritten: true },
      { epoch: 'a', at: 5, time: 6 },
    ],
  }
  for (const [name, [next, reset]] of Object.entries(cases))
    it(`deliver the others once, after a reset if any is lost: ${name}`, async () => {
      const seen: unknown[] = []
      const follower: Follower = new Follower({
        engine: { pause: 1000, read: async () => next } as Partial<ChannelEngine> as ChannelEngine,
        outages: { begin: () => undefined, end: () => undefined } as never,
        deliver: ({ events }) => seen.push(...events.map(({ at }) => at)),
        reset: (place) => seen.push(place),
      })
      follower.start({ epoch: 'a', at: 5, time: 5 })
      await follower.refresh(9)
      await follower.stop()
      const first = [...(reset === undefined ? [] : [reset]), ...next.events.map(({ at }) => at)]
      expect(seen.slice(0, first.length)).to.deep.equal(first)
    })

  it('send a client that comes back nothing of another order before the reset', async () => {
    const texts: string[] = []
    await replay({ read: async () => reading('b', 9, 8, 9) } as never, missedBy(texts), { delivered: 0 })
    expect(texts).to.deep.equal([])
  })

  it('begin nothing that its guard has ended in the meantime', async () => {
    const frames: string[] = []
    const outlet = { isOpen: true, write: ({ text }: Frame) => frames.push(text), drained: async () => {} }
    const client = new Client({ user: null } as never, outlet as never)
    const loaded = { keep: 1000, hasPresence: false }
    const [ended, other] = ['ended', 'other'].map(
      (name) => new Subscription(client, { name, loaded } as never),
    )
    for (const each of [ended!, other!]) client.subscriptions.set(each.name, each)
    const engine = {
      async read() {
        hub.close(ended!)
        return { ...reading('a', 9), events: [{ ...event(9), channel: 'ended' }] }
      },
    }
    const hub = new Hub({} as never, { engine, follower: { place: reading('a', 9) } } as never)
    await hub.open([ended!, other!], idOf(reading('a', 5)))
    expect(frames).to.deep.equal([JSON.stringify({ type: 'subscribed', channel: 'other', id: 'a.9.9' })])
    expect(hub.size).to.equal(1)
  })

  it('are forgotten with the last connection to them', async () => {
    const loaded = { hasPresence: false, auth: false, validate: (params: unknown) => params }
    const channels = { find: (name: string) => ({ name, params: {}, loaded }) }
    const follower = { place: reading('a', 9) }
    const hub = new Hub(channels as never, { follower, guards: new Map(), channelsPerConnection: 1 } as never)
    const kept = await keptAfter(async (name) => {
      const client = hub.connect(
        { user: null, name } as never,
        { isOpen: true, write: () => undefined } as never,
      )
      await hub.open([await hub.admit(client, name)], undefined)
      hub.disconnect(client)
    })
    expect(kept).to.be.below(5e6)
  })

  it('are not read for a client whose connection has ended', async () => {
    const reads: number[] = []
    const read = async ({ at }: { at: number }) => {
      reads.push(at)
      return reading('a', 1005, ...Array.from({ length: PAGE }, (_, index) => at + 1 + index))
    }
    await replay({ read } as never, missedBy([], 2), { delivered: 0 })
    expect(reads).to.deep.equal([5])
  })

  it('are sent up to the place of the process, because it delivers the later ones itself', async () => {
    const texts: string[] = []
    const given = Array.from({ length: 10 }, (_, index) => index + 6)
    const missed = { ...missedBy(texts), to: reading('a', 8) }
    await replay({ read: async () => reading('a', 15, ...given) } as never, missed, { delivered: 0 })
    expect(texts).to.have.length(3)
  })

  it('are read as often as before when their engine is back, which ends the outage', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    let reads = 0
    const told: unknown[] = []
    const read = async () => (++reads === 1 ? Promise.reject(new Error('away')) : reading('a', 5))
    const outages = {
      begin: ({ part }: { part: string }) => told.push(part),
      end: (part: string) => told.push(`-${part}`),
    }
    const follower = new Follower({
      engine: { pause: 100, read },
      outages,
      deliver: () => undefined,
    } as never)
    follower.start({ epoch: 'a', at: 5, time: 5 })
    for (const pause of [0, 500, 110, 110]) {
      mock.timers.tick(pause)
      await nextTurn()
    }
    expect(reads).to.equal(4)
    expect(told.slice(0, 2)).to.deep.equal(['channels', '-channels'])
    await follower.stop()
  })

  it('are read once each pause, however many were published, and until the stop', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const [asked, end] = [deferred(), deferred()]
    let isSlow = false
    let reads = 0
    async function read() {
      reads++
      if (isSlow) {
        asked.resolve()
        await end.promise
      }
      return reading('a', 5)
    }
    const options = { outages: { begin: () => undefined, end: () => undefined }, deliver: () => undefined }
    const follower = new Follower({ engine: { pause: 100, read }, ...options } as never)
    follower.start(reading('a', 5))
    for (let publication = 0; publication < 5; publication++) {
      await nextTurn()
      follower.wake()
    }
    await nextTurn()
    const before = reads
    for (let pause = 0; pause < 3; pause++) {
      mock.timers.tick(110)
      await nextTurn()
    }
    expect(reads - before).to.equal(3)
    isSlow = true
    follower.wake()
    await asked.promise
    let isStopped = false
    const stopping = follower.stop().then(() => (isStopped = true))
    await nextTurn()
    expect(isStopped).to.equal(false)
    end.resolve()
    await stopping
    mock.timers.tick(1000)
    expect(reads - before).to.equal(4)
  })

  it('are read again each second at the latest while their engine is away', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    let reads = 0
    const read = async (): Promise<never> => {
      reads++
      throw new Error('away')
    }
    const options = { outages: { begin: () => undefined, end: () => undefined } }
    const follower = new Follower({ engine: { pause: 100, read }, ...options } as never)
    follower.start(reading('a', 5))
    for (let second = 1; second <= 6; second++) {
      await nextTurn()
      expect(reads).to.equal(second)
      mock.timers.tick(1000)
    }
    await follower.stop()
  })

  it('are read again without a pause while more of them are there, or new ones come', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const asked: number[] = []
    async function read({ at }: { at: number }) {
      asked.push(at)
      await nextTurn()
      if (at === PAGE) follower.wake()
      const events = at > 0 ? [] : Array.from({ length: PAGE }, (_, index) => index + 1)
      return reading('a', PAGE, ...events)
    }
    const options = { outages: { begin: () => undefined, end: () => undefined }, deliver: () => undefined }
    const follower: Follower = new Follower({ engine: { pause: 100, read }, ...options } as never)
    follower.start(reading('a', 0))
    for (let turns = 0; turns < 5; turns++) await nextTurn()
    expect(asked.slice(0, 3)).to.deep.equal([0, PAGE, PAGE])
    await follower.stop()
  })

  it('are not read before the pause after a failure, nor before the start', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    let reads = 0
    const read = async () => {
      reads++
      await nextTurn()
      // A new event while this read is under way.
      follower.wake()
      throw new Error('away')
    }
    const options = { outages: { begin: () => undefined, end: () => undefined } }
    const follower: Follower = new Follower({ engine: { pause: 100, read }, ...options } as never)
    follower.wake()
    expect(reads).to.equal(0)
    follower.start(reading('a', 5))
    for (let turns = 0; turns < 3; turns++) await nextTurn()
    expect(reads).to.equal(1)
    mock.timers.tick(500)
    expect(reads).to.equal(2)
    await follower.stop()
  })

  const now = { ...reading('a', 9), time: 5000, numbered: 4500 }
  const places: readonly [name: string, given: Partial<Place> | undefined, known: boolean][] = [
    ['without a place', undefined, false],
    ['of another order', { epoch: 'b' }, false],
    ['ahead of this process', { at: 10 }, false],
    ['at the last event', { at: 9, time: 4500 }, true],
    ['whose last number was given again', { at: 9, time: 4499 }, false],
    ['as long ago as events are kept', { at: 8, time: 4000 }, true],
    ['longer ago', { at: 8, time: 3999 }, false],
  ]
  for (const [name, given, known] of places)
    it(`are known to be all there, or not, to a client ${name}`, () => {
      const subscription = { found: { loaded: { keep: 1000 } } } as never
      expect(isKnown(given && { epoch: 'a', at: 9, time: 5000, ...given }, now, subscription)).to.equal(known)
    })

  it('are in the order of time in memory although the clock of the process goes back', async () => {
    let time = 2000
    const engine = memoryEngine({ now: () => time })
    for (const moment of [2000, 1000]) {
      time = moment
      await engine.publish({ channel: 'news', event: 'count', data: '1', keep: 1000 })
    }
    const { events, time: last } = await engine.read({ at: 0, time: 0 })
    expect([...events, { time: last }].map((each) => each.time)).to.deep.equal([2000, 2000, 2000])
  })

  it('are read again if one arrives between the end of a wait for Redis and its place', async () => {
    const entry = ['5-5000', ['epoch', 'a', 'channel', 'news', 'event', 'count', 'data', '1']]
    const replies = [null, [['events', [entry]]]]
    const side = {
      defineCommand: () => undefined,
      on: () => undefined,
      mortarChannelsHead: async () => ['a', '5', '5000'],
      xread: async () => replies.shift(),
    }
    const redis = { ...side, duplicate: () => side }
    const { events } = await redisEngine({ redis } as never).read({ at: 4, time: 4000 })
    expect(events).to.deep.equal([{ ...event(5), time: 5000 }])
  })

  it('are refused when too many wait for Redis', async () => {
    const sender = new Sender(() => Promise.race([]), {} as never)
    const publish = () => sender.publish({ channel: 'news', event: 'count', data: '1', keep: 1000 }, true)
    for (let count = 0; count < 10_000; count++) void publish()
    expect(await publish().catch((error: unknown) => error)).to.include({ status: 503 })
  })

  it('are refused when the application stops before Redis has them', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const sender = new Sender(() => Promise.race([]), {} as never)
    const committed = { channel: 'news', event: 'count', data: '1', keep: 1000 }
    const refused = sender.publish(committed, true).catch((error: unknown) => error)
    const stopped = sender.stop()
    mock.timers.tick(2000)
    await stopped
    expect(await refused).to.include({ message: 'The application stops.' })
  })

  it('are refused when Redis is silent for five seconds', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const redis = { defineCommand: () => undefined, mortarChannelsAdd: () => Promise.race([]) }
    const engine = redisEngine({ redis, outages: {} } as never)
    const result = engine.publish({ channel: 'news', event: 'count', data: '1', keep: 1000 })
    const refused = result.catch((error: unknown) => error)
    mock.timers.tick(4999)
    await nextTurn()
    expect(await Promise.race([refused, Promise.resolve('waits')])).to.equal('waits')
    mock.timers.tick(1)
    expect(await refused).to.include({ status: 503 })
  })

  it('are sent to Redis in their order, a page at a time', async () => {
    const sizes: number[] = []
    const numbers: number[] = []
    const sender = new Sender(
      async (batch) => {
        sizes.push(batch.length)
        numbers.push(...batch.map(({ number }) => number))
      },
      { begin: () => undefined, end: () => undefined } as never,
    )
    const all = Array.from({ length: 2 * PAGE + 1 }, () =>
      sender.publish({ channel: 'news', event: 'count', data: '1', keep: 1000 }, true),
    )
    await Promise.all(all)
    expect(Math.max(...sizes)).to.equal(PAGE)
    expect(numbers).to.deep.equal(all.map((_, index) => index + 1))
  })

  for (const end of ['arrived', 'failed'])
    it(`are sent to Redis although they are published in the moment in which the last one has ${end}`, async () => {
      let sent = 0
      const sender = new Sender(
        () => (++sent === 1 && end === 'failed' ? Promise.reject(new Error('away')) : Promise.resolve()),
        { begin: () => undefined, end: () => undefined } as never,
      )
      const publish = () => sender.publish({ channel: 'news', event: 'count', data: '1', keep: 1000 }, false)
      try {
        await publish()
      } catch {
        // A further promise would come later than that moment.
      }
      const late = new Error('It waits for the next event.')
      await inTime(publish(), 1000, () => late)
      expect(sent).to.equal(2)
    })

  it('end the connection of a client for which too many new ones wait meanwhile', () => {
    let cuts = 0
    const outlet = { write: () => undefined, cut: () => void cuts++ }
    const one = new Subscription({ delivered: 0, outlet } as never, { name: 'news' } as never)
    one.held = []
    for (let count = 0; count < 1000; count++) one.take({ text: '' })
    expect(cuts).to.equal(0)
    one.take({ text: '' })
    expect(cuts).to.equal(1)
  })

  it('renew the leases of their users with the next look', async () => {
    let renewals = 0
    const engine = { enter: async () => void renewals++, present: async () => [] }
    const presence = new Presence(engine as Partial<ChannelEngine> as ChannelEngine, () => undefined)
    await presence.enter('news', 'ada')
    for (let look = 0; look < 2; look++) await presence.tick()
    const before = renewals
    presence.renew()
    await presence.tick()
    expect(renewals).to.equal(before + 1)
    // And with every third one.
    for (let look = 0; look < 6; look++) await presence.tick()
    expect(renewals).to.equal(before + 3)
  })
})
