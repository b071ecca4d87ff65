import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { Forbidden, type HttpError } from 'mortar'
import { Invalid } from 'mortar/kit'
import {
  idOf,
  PAGE,
  type Place,
  type Reading,
  type StoredEvent,
} from '../../../../plugins/realtime/channels/engine.ts'
import { Hub } from '../../../../plugins/realtime/channels/hub.ts'
import type { Frame } from '../../../../plugins/realtime/channels/subscriptions.ts'

const place = (at: number): Place => ({ epoch: 'a', at, time: at })
const event = (at: number, channel = 'news'): StoredEvent => ({
  channel,
  event: 'count',
  data: '1',
  at,
  time: at,
})
const reading = (...events: StoredEvent[]): Reading => ({ ...place(events.at(-1)?.at ?? 0), events })

const AUTH: Readonly<Record<string, unknown>> = { news: false, rooms: true, short: 'rule' }

/** A hub at the place 9, with a channel of each name: `rooms` shows its users, and `short` keeps events for 1 ms. */
function makeHub({ read = async () => reading() }: { readonly read?: () => Promise<Reading> } = {}) {
  const calls: string[] = []
  const errors = new Map<string, Error>()
  const note = (what: string) => void calls.push(what)
  const follower = {
    place: place(9),
    async refresh(at: number) {
      note(`refresh ${at}`)
      follower.place = place(at)
    },
  }
  const presence = {
    enter: async (channel: string, user: string) => note(`enter ${channel} ${user}`),
    leave: async (channel: string, user: string) => note(`leave ${channel} ${user}`),
    renew: () => note('renew'),
    usersOf: () => ['ada', 'bob'],
  }
  const channel = (name: string) => ({
    hasPresence: name === 'rooms',
    keep: name === 'short' ? 1 : 1000,
    auth: AUTH[name],
    validate: (params: unknown): unknown => params,
  })
  const channels = { find: (name: string) => ({ name, params: {}, loaded: loaded.get(name) }) }
  const names = ['news', 'rooms', 'short']
  const loaded = new Map(names.map((name) => [name, channel(name)]))
  const guards = new Map(
    names.map((name) => [
      loaded.get(name),
      (ctx: { readonly user: unknown }) => {
        note(`judge ${name} ${JSON.stringify(ctx.user)}`)
        if (errors.has(name)) throw errors.get(name)!
      },
    ]),
  )
  const parts = { engine: { read }, follower, presence, guards, channelsPerConnection: 9 }
  return { hub: new Hub(channels as never, parts as never), calls, errors, follower, loaded }
}

/** A client of a hub, with the frames that it gets. */
function clientOf(hub: Hub) {
  const frames: Record<string, unknown>[] = []
  const outlet = {
    isOpen: true,
    write: ({ text }: Frame) => void frames.push(JSON.parse(text) as Record<string, unknown>),
    drained: async () => undefined,
    end: () => void frames.push({ type: 'end' }),
    cut: () => undefined,
  }
  const log = { info: () => undefined, warn: () => undefined }
  const client = hub.connect({ id: 'request-1', user: { id: 'ada' }, log } as never, outlet)
  const open = async (names: readonly string[], since?: string): Promise<void> => {
    const admitted = []
    for (const name of names) admitted.push(await hub.admit(client, name))
    await hub.open(admitted, since)
  }
  /** The types of the frames since the last call, with their channels or numbers. */
  const take = () =>
    frames
      .splice(0)
      .map(({ type, channel, id }) => [type, channel, String(id ?? '')].filter(Boolean).join(' '))
  return { client, outlet, frames, open, take }
}

describe('The subscriptions of a process', () => {
  it('get the events after the place of a reset, and no earlier ones', async () => {
    const { hub, calls } = makeHub()
    const { open, take } = clientOf(hub)
    await open(['news'])
    hub.deliver(reading(event(9), event(10)))
    hub.reset(place(20))
    hub.deliver(reading(event(20), event(21)))
    expect(take()).to.deep.equal([
      'subscribed news a.9.9',
      'event news a.10.10',
      'reset news a.20.20',
      'event news a.21.21',
    ])
    expect(calls).to.include('renew')
    expect(hub.totals.delivered).to.equal(2)
    hub.reset(place(5))
    hub.deliver(reading(event(6)))
    expect(take()).to.deep.equal(['reset news a.5.5', 'event news a.6.6'])
  })

  it('may be asked for again after a refusal by their guard or of their parameters', async () => {
    const { hub, errors, loaded } = makeHub()
    const { client, open, take } = clientOf(hub)
    errors.set('news', new Forbidden())
    loaded.get('rooms')!.validate = () => new Invalid([])
    const statuses: unknown[] = []
    for (const name of ['news', 'news', 'rooms', 'rooms'])
      await hub.admit(client, name).catch(({ status }: HttpError) => statuses.push(status))
    expect([statuses, client.subscriptions.size]).to.deep.equal([[403, 403, 422, 422], 0])
    errors.delete('news')
    await open(['news'])
    expect(take()).to.deep.equal(['subscribed news a.9.9'])
  })

  it('do not begin on a connection that has ended', async () => {
    const { hub, calls } = makeHub()
    const { open, outlet, take } = clientOf(hub)
    outlet.isOpen = false
    await open(['news', 'rooms'])
    expect([hub.size, take(), calls.filter((call) => call.startsWith('enter'))]).to.deep.equal([0, [], []])
  })

  it('leave a channel once when their connection ends, and are counted while they are open', async () => {
    const { hub, calls } = makeHub()
    const { client, frames, open } = clientOf(hub)
    await open(['rooms', 'news'])
    expect(frames[0]).to.deep.include({ channel: 'rooms', users: ['ada', 'bob'] })
    expect(hub.size).to.equal(2)
    hub.disconnect(client)
    hub.disconnect(client)
    expect(hub.size).to.equal(0)
    expect(calls.filter((call) => call.startsWith('leave'))).to.deep.equal(['leave rooms ada'])
  })

  it('begin with what another process has delivered to their client', async () => {
    const { hub, calls } = makeHub()
    const { open, take } = clientOf(hub)
    await open(['news'], idOf(place(9)))
    expect(calls).to.not.include('refresh 9')
    await open(['short'], idOf(place(12)))
    expect(calls).to.include('refresh 12')
    expect(take()).to.deep.equal(['subscribed news a.9.9', 'subscribed short a.12.12'])
  })

  it('are reset if their channel has not kept its events, and the others get theirs', async () => {
    const asked: unknown[] = []
    const { hub } = makeHub({
      async read(...given: unknown[]) {
        asked.push(given[1])
        // New events arrive while the missed ones are read.
        hub.deliver(reading(event(10), event(11, 'short'), event(12)))
        return reading(event(8))
      },
    })
    const { client, open, take } = clientOf(hub)
    await open(['news', 'short'], idOf(place(7)))
    expect(asked).to.deep.equal([['news']])
    expect(take()).to.deep.equal([
      'event news a.8.8',
      'subscribed news a.9.9',
      'reset short a.9.9',
      'subscribed short a.9.9',
      // In one order, because a client comes back with its last id.
      'event news a.10.10',
      'event short a.11.11',
      'event news a.12.12',
    ])
    expect([hub.totals.delivered, client.delivered]).to.deep.equal([4, 4])
  })

  it('send the events of a burst during missed ones no faster than their client reads', async () => {
    const burst = Array.from({ length: 100 }, (_, index) => event(10 + index))
    const { hub } = makeHub({
      async read() {
        hub.deliver(reading(...burst))
        return reading(event(9))
      },
    })
    const { outlet, open, frames } = clientOf(hub)
    let [waiting, most] = [0, 0]
    const { write } = outlet
    outlet.write = (frame) => {
      write(frame)
      most = Math.max(most, ++waiting)
    }
    outlet.drained = async () => {
      await nextTurn()
      // Events that come now wait behind those that came before.
      if (frames.length === 50) hub.deliver(reading(event(110)))
      waiting = 0
      return undefined
    }
    await open(['news'], idOf(place(8)))
    hub.deliver(reading(event(111)))
    const numbers = frames
      .filter(({ type }) => type === 'event')
      .map(({ id }) => Number(String(id).split('.')[2]))
    expect(numbers).to.deep.equal(Array.from({ length: 103 }, (_, index) => 9 + index))
    expect(most).to.equal(2)
  })

  it('read missed events page after page, from the last one of each', async () => {
    const from: number[] = []
    const { hub, follower } = makeHub({
      async read(...given: unknown[]) {
        const { at } = given[0] as Place
        from.push(at)
        const count = Math.min(PAGE, 500 - at)
        return { ...place(500), events: Array.from({ length: count }, (_, index) => event(at + index + 1)) }
      },
    })
    follower.place = place(500)
    const { open, frames } = clientOf(hub)
    await open(['news'], idOf(place(50)))
    expect(from).to.deep.equal([50, 250, 450])
    expect(frames.map(({ id }) => String(id).split('.')[2])).to.deep.equal([
      ...Array.from({ length: 450 }, (_, index) => String(index + 51)),
      '500',
    ])
  })

  it('reset a client whose missed numbers were given again', async () => {
    const { hub } = makeHub({ read: async () => ({ ...reading(event(8)), isRewritten: true }) })
    const { open, take } = clientOf(hub)
    await open(['news'], idOf(place(7)))
    expect(take()).to.deep.equal(['reset news a.9.9', 'subscribed news a.9.9'])
  })

  it('end by the refusal of their guard, and stay when it fails', async () => {
    const { hub, calls, errors } = makeHub()
    const { client, open, take } = clientOf(hub)
    await open(['news', 'short'])
    take()
    // Without `open`, nothing is there to end.
    await hub.admit(client, 'rooms')
    calls.splice(0)
    // The facts of a newer credential.
    client.user = { id: 'ada', raw: { age: 2 } }
    errors.set('short', new Forbidden())
    await hub.judge(client)
    expect(calls).to.deep.equal(['news', 'short'].map((name) => `judge ${name} {"id":"ada","raw":{"age":2}}`))
    expect(take()).to.deep.equal(['refused short'])
    errors.set('news', Object.assign(new Error('away'), { status: 503 }))
    const failure = await hub.judge(client).catch((error: HttpError) => error)
    expect(failure).to.include({ status: 503 })
    expect([take(), hub.size]).to.deep.equal([[], 1])
  })

  it('go on with an expired credential, but not where a policy reads its facts', async () => {
    const { hub } = makeHub()
    const { client, open, take } = clientOf(hub)
    await open(['news', 'rooms', 'short'])
    take()
    client.isExpired = true
    await hub.judge(client)
    expect([take(), hub.size]).to.deep.equal([['refused short'], 2])
  })

  it('end without the message of an unexpected error when they cannot be judged twice', async () => {
    const { hub, errors } = makeHub()
    const { client, frames, open } = clientOf(hub)
    client.user = null
    await open(['short'])
    errors.set('short', new Error('secret'))
    await hub.judgeAll()
    expect(frames).to.have.length(1)
    await hub.judgeAll()
    expect(frames[1]!['problem']).to.include({
      status: 500,
      detail: 'The server failed to process this request.',
    })
  })

  it('go on when two failures of their guard have a success between them', async () => {
    const { hub, errors } = makeHub()
    const { client, open, take } = clientOf(hub)
    client.user = null
    await open(['short'])
    take()
    for (const failure of [new Error('away'), undefined, new Error('away')]) {
      errors.delete('short')
      if (failure !== undefined) errors.set('short', failure)
      await hub.judgeAll()
    }
    expect([take(), hub.size]).to.deep.equal([[], 1])
  })

  it('get nothing that has waited for them once they have ended', async () => {
    const { hub } = makeHub({
      async read() {
        hub.deliver(reading(event(10), event(11, 'rooms')))
        hub.close(one.client.subscriptions.get('news')!)
        return reading()
      },
    })
    const one = clientOf(hub)
    await one.open(['news', 'rooms'], idOf(place(7)))
    expect(one.take()).to.deep.equal(['subscribed rooms a.9.9', 'event rooms a.11.11'])
  })

  it('tell the request with a refusal', async () => {
    const { hub, errors } = makeHub()
    const { client, frames, open } = clientOf(hub)
    await open(['news'])
    errors.set('news', new Forbidden())
    await hub.judge(client)
    expect(frames.at(-2)).to.deep.include({ type: 'refused', channel: 'news' })
    expect(frames.at(-2)!['problem']).to.deep.include({ status: 403, instance: 'request-1' })
    expect(frames.at(-1)).to.deep.equal({ type: 'end' })
  })

  const tellings: Readonly<Record<string, (hub: Hub, of: ReturnType<typeof clientOf>) => unknown>> = {
    'without a subscription': () => undefined,
    'whose second subscription has not begun': async (hub, { client, open }) => {
      await open(['news'])
      await hub.admit(client, 'short')
    },
    'that still gets missed events': async (_, { client, open }) => {
      await open(['news'])
      client.subscriptions.get('news')!.held = []
    },
    'that is gone': async (hub, { client, open }) => {
      await open(['news'])
      hub.disconnect(client)
    },
  }
  for (const [name, prepare] of Object.entries(tellings))
    it(`tell the current place to every client but one ${name}`, async () => {
      const { hub } = makeHub()
      const [one, other] = [clientOf(hub), clientOf(hub)]
      await prepare(hub, one)
      await other.open(['news', 'short'])
      for (const { take } of [one, other]) take()
      hub.tellPlace()
      expect([one.take(), other.take()]).to.deep.equal([[], ['place a.9.9']])
    })
})
