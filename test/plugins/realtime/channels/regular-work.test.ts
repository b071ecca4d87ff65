import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import type { App, Logger } from 'mortar'
import { channels } from '@mortar/realtime/channels'
import { createClient } from 'mortar/testing'
import { connect } from '@mortar/realtime/testing'
import { subscribe, type ChannelFrame } from '@mortar/realtime/channels/testing'
import { PAGE } from '../../../../plugins/realtime/channels/engine.ts'
import { Hub } from '../../../../plugins/realtime/channels/hub.ts'
import { loadChannels } from '../../../../plugins/realtime/channels/load-channels.ts'
import { memoryEngine } from '../../../../plugins/realtime/channels/memory-engine.ts'
import { Presence } from '../../../../plugins/realtime/channels/presence.ts'
import { redisEngine } from '../../../../plugins/realtime/channels/redis-engine.ts'
import { recorder } from '../../../app/recorder.ts'
import { channelApp, createUsers, DIRECTORY } from './channel-app.ts'
import news from './files/news.ts'

/** The regular work of channels, which timers of this process begin. */
describe('Channels with time', () => {
  const opened: App[] = []
  afterEach(async () => {
    for (const app of opened.splice(0)) await app.close()
    mock.reset()
  })
  async function serve(logger: Logger | false = false) {
    const users = createUsers()
    const app = channelApp(users, {}, { app: { logger } })
    opened.push(app)
    await app.listen(0, '127.0.0.1')
    return { app, users, events: app.services.channels }
  }

  it('read events again on a new connection when Redis is silent for two seconds longer than a read waits', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    let silent = false
    let ends = 0
    const side = {
      defineCommand: () => undefined,
      on: () => undefined,
      disconnect: () => void ends++,
      mortarChannelsHead: async () => ['epoch', '0', '0'],
      xread: () => (silent ? Promise.race([]) : Promise.resolve(null)),
    }
    const engine = redisEngine({ redis: { ...side, duplicate: () => side }, outages: {} } as never)
    const place = { epoch: 'epoch', at: 0, time: 0 }
    await engine.read(place)
    silent = true
    const failed = engine.read(place).catch((error: Error) => error.message)
    mock.timers.tick(2999)
    await turn()
    expect(ends).to.equal(0)
    mock.timers.tick(1)
    expect(await failed).to.equal('Redis did not respond in time.')
    expect(ends).to.equal(1)
  })

  it('tell a client without events its place each 15 seconds, by which it gets what it misses', async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    const { app, events } = await serve()
    const socket = await connect<unknown>(app, '/channels')
    const next = async () => (await socket.next()) as ChannelFrame
    socket.send({ subscribe: 'news' })
    const subscribed = await next()
    expect(subscribed.type).to.equal('subscribed')
    mock.timers.tick(14_000)
    await events.publish(news(), 'count', { number: 1 })
    const event = await next()
    expect(event.type).to.equal('event')
    mock.timers.tick(2000)
    const told = await next()
    expect([told.type, told.id!.split('.')[2]]).to.deep.equal(['place', event.id!.split('.')[2]])
    socket.close()
    await socket.closed
    await events.publish(news(), 'count', { number: 2 })
    const again = await subscribe(app, 'news', { since: told.id! })
    expect(again.first.data).to.deep.equal({ number: 2 })
    again.close()
    // A browser that comes back by itself sends its first address again.
    const stream = await createClient(app).sse<ChannelFrame>(
      `/channels?channel=news&since=${subscribed.id}`,
      {
        lastEventId: told.id!,
      },
    )
    expect((await stream.next()).data.data).to.deep.equal({ number: 2 })
    stream.close()
  })

  it('are judged again each minute, one evaluation at a time', async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    const { app, users } = await serve()
    const ada = await subscribe(app, 'private/ada', { token: 'ada' })
    expect(users.judged.splice(0)).to.deep.equal(['ada'])
    mock.timers.tick(56_000)
    await turn()
    expect(users.judged).to.deep.equal([])
    users.stuck.add('ada')
    for (let minute = 0; minute < 3; minute++) {
      mock.timers.tick(64_000)
      await turn()
    }
    expect(users.judged).to.deep.equal(['ada'])
    ada.close()
  })

  it('keep their events for ten minutes by default', async () => {
    const { all } = await loadChannels(DIRECTORY)
    expect(all.find(({ name }) => name === 'rooms/[id]')!.keep).to.equal(600_000)
  })

  it('go on with their regular work after it has failed', async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    const works = [
      mock.method(Presence.prototype, 'tick', () => Promise.reject(new Error('away'))),
      mock.method(Hub.prototype, 'judgeAll', () => Promise.reject(new Error('away'))),
      mock.method(Hub.prototype, 'tellPlace', () => {
        throw new Error('away')
      }),
    ]
    await serve()
    for (let minute = 0; minute < 3; minute++) {
      mock.timers.tick(64_000)
      await turn()
    }
    for (const { mock: work } of works) expect(work.callCount()).to.be.at.least(3)
  })

  it('leave no timer behind, also when their engine is away, and have none where no requests are served', async () => {
    const made: NodeJS.Timeout[] = []
    const delays: number[] = []
    const begin = setInterval
    mock.method(globalThis, 'setInterval', (act: () => void, ms: number) => {
      const timer = begin(act, ms)
      made.push(timer)
      delays.push(ms)
      return timer
    })
    const lines: string[] = []
    const { app } = await serve(recorder(lines))
    const count = made.length
    expect(count).to.be.at.least(4)
    // Users, places of clients, old events, and guards.
    for (const expected of [1000, 15_000, 30_000, 60_000])
      expect(delays.filter((delay) => Math.abs(delay / expected - 1) <= 0.05)).to.have.length(1)
    const process = { servesRequests: false, stopping: new AbortController().signal }
    await channels({ directory: DIRECTORY }).work!(app.services, process)
    expect(made).to.have.length(count)
    expect(made.filter((timer) => timer.hasRef())).to.deep.equal([])
    mock.method(Presence.prototype, 'stop', () => Promise.reject(new Error('away')))
    await app.close()
    expect(lines.filter((line) => line.includes('did not stop'))).to.deep.equal([])
    const left = made.filter(
      (timer) => !(timer as NodeJS.Timeout & { readonly _destroyed: boolean })._destroyed,
    )
    expect(left).to.have.length(0)
  })

  it('show how many are open, and how many events they got', async () => {
    const { app, events } = await serve()
    const { gauges } = app.services as unknown as App['services']
    const values = () =>
      [...gauges.all]
        .filter(([name]) => name.startsWith('channels_'))
        .map(([name, { isCounter = false, read }]) => [name, isCounter ? 'counter' : 'gauge', read()])
    const readers = [await subscribe(app, 'news'), await subscribe(app, 'news')]
    await events.publish(news(), 'count', { number: 1 })
    for (const reader of readers) await reader.next()
    readers[0]!.send({ unsubscribe: 'news' })
    await readers[0]!.next()
    expect(values()).to.deep.equal([
      ['channels_subscriptions', 'gauge', 1],
      [
        'channels_events_total',
        'counter',
        new Map([
          ['published', 1],
          ['delivered', 2],
        ]),
      ],
    ])
    for (const reader of readers) reader.close()
  })

  it('read the events in memory a page at a time', async () => {
    const engine = memoryEngine({ now: () => 1000 })
    const { time } = await engine.open()
    for (let number = 0; number <= PAGE; number++)
      await engine.publish({ channel: 'news', event: 'count', data: String(number), keep: 1000 })
    const first = await engine.read({ at: 0, time })
    expect([first.events.length, first.at]).to.deep.equal([PAGE, PAGE])
    const second = await engine.read(first)
    expect([second.events.map(({ data }) => data), second.at]).to.deep.equal([[String(PAGE)], PAGE + 1])
  })

  it('keep an event in memory for its time and a minute, and no longer', async () => {
    let now = 1000
    const engine = memoryEngine({ now: () => now })
    const { time } = await engine.open()
    for (const keep of [1000, 60_000])
      await engine.publish({ channel: 'news', event: 'count', data: String(keep), keep })
    const data = async () => {
      await engine.tidy!()
      return (await engine.read({ at: 0, time }, ['news'])).events.map((event) => event.data)
    }
    for (const [after, kept] of [
      [61_000, ['1000', '60000']],
      [1, ['60000']],
      [58_999, ['60000']],
      [1, []],
    ] as const) {
      now += after
      expect(await data(), String(now)).to.deep.equal(kept)
    }
  })
})
