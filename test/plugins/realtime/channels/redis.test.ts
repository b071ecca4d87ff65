import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import type { App, HttpError, Logger } from 'mortar'
import { PAGE } from '../../../../plugins/realtime/channels/engine.ts'
import { redisEngine } from '../../../../plugins/realtime/channels/redis-engine.ts'
import { subscribe, type TestSubscription } from '@mortar/realtime/channels/testing'
import { needRedisServer, startRedis, type RedisServer } from '../../../support/redis-server.ts'
import { recorder } from '../../../app/recorder.ts'
import { KINDS } from '../../database/databases.ts'
import { engineApp } from './engines.ts'
import { LAST, nextEvent, numbersOf } from './numbers.ts'
import news from './files/news.ts'
import rooms from './files/rooms/[id].ts'

describe('Channels in a Redis', () => {
  needRedisServer()
  const database = KINDS['SQLite']!()
  const folder = mkdtempSync(join(tmpdir(), 'mortar-redis-'))
  const opened: Pick<App, 'close'>[] = []
  let server: RedisServer
  let admin: Redis

  before(async () => {
    server = await startRedis('--dir', folder)
  })
  beforeEach(async () => {
    admin = new Redis(server.url).on('error', () => undefined)
    await admin.flushall()
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((app) => app.close()))
    admin.disconnect()
  })
  after(async () => {
    await server.stop()
    rmSync(folder, { recursive: true })
  })

  async function serve(logger: Logger | false = false) {
    const redis = { url: server.url, prefix: 'shop:' }
    const { app } = engineApp({ engine: 'redis', connection: database().options(), redis }, {}, { logger })
    opened.push(app)
    await app.listen(0, '127.0.0.1')
    const { publish } = app.services.channels
    return {
      app,
      count: (number: number, how = {}) => publish(news(), 'count', { number }, how),
      db: app.services.db,
    }
  }

  it('repeat the events of two channels in their order, more of each than a page', async () => {
    const outages = { begin: () => undefined, end: () => undefined }
    const engine = redisEngine({ redis: admin, outages } as never)
    let place = await engine.open()
    const count = PAGE + 50
    for (const channel of ['a', 'b'])
      await Promise.all(
        Array.from({ length: count }, () => engine.publish({ channel, event: 'e', data: '1', keep: 60_000 })),
      )
    const found: string[] = []
    for (let size = PAGE; size >= PAGE;) {
      const { events, epoch } = await engine.read(place, ['a', 'b'])
      found.push(...events.map(({ channel }) => channel))
      place = { epoch, ...(events.at(-1) ?? place) }
      size = events.length
    }
    expect(found.join('')).to.equal('a'.repeat(count) + 'b'.repeat(count))
    await engine.close?.()
  })

  async function resetOf(reader: TestSubscription): Promise<void> {
    while ((await reader.next()).type !== 'reset');
  }

  const losses: Readonly<Record<string, (count: (number: number) => Promise<void>) => Promise<unknown>>> = {
    'is flushed': () => admin.flushall(),
    'evicts the stream of all events': () => admin.del('shop:{mortar:channels}:events'),
    'starts again without its data': async () => {
      await server.stop()
      await server.start()
    },
    'starts again without its last event': async (count) => {
      await admin.save()
      await count(100)
      await server.stop()
      await server.start()
    },
  }
  for (const [loss, lose] of Object.entries(losses))
    it(`reset their subscribers in all processes when it ${loss}, and lose nothing later`, async () => {
      const [one, two] = [await serve(), await serve()]
      const readers = [await subscribe(one.app, 'news'), await subscribe(two.app, 'news')]
      await one.count(1)
      for (const reader of readers) expect(await nextEvent(reader)).to.equal(1)
      await lose(one.count)
      for (const reader of readers) await resetOf(reader)
      for (let number = 2; number < 9; number++) await [one, two][number % 2]!.count(number)
      await two.count(LAST)
      for (const reader of readers) expect(await numbersOf(reader)).to.deep.equal([2, 3, 4, 5, 6, 7, 8])
      for (const reader of readers) reader.close()
    })

  it('send no beginning of an order to a channel whose file is index', async () => {
    const { app } = await serve()
    const reader = await subscribe(app, '')
    await admin.flushall()
    expect(await reader.next()).to.include({ type: 'reset', channel: '' })
    reader.send({ unsubscribe: '' })
    expect(await reader.next()).to.include({ type: 'unsubscribed' })
    reader.close()
  })

  it('publish committed events when it is back, once and in order, and refuse others with 503', async () => {
    const { app, count, db } = await serve()
    const reader = await subscribe(app, 'news')
    await server.stop()
    for (const number of [1, 2]) await db.transaction((tx) => count(number, { tx }))
    const refused = await count(3).catch((error: HttpError) => error)
    expect(refused).to.include({ status: 503 })
    await db.transaction((tx) => count(4, { tx }))
    await server.start()
    await resetOf(reader)
    const numbers: number[] = []
    while (numbers.length < 3) numbers.push(await nextEvent(reader))
    expect(numbers).to.deep.equal([1, 2, 4])
    await count(LAST)
    expect(await numbersOf(reader)).to.deep.equal([])
    reader.close()
  })

  it('publish committed events when its memory is free again, and refuse others with 503', async () => {
    const { app, count, db } = await serve()
    const reader = await subscribe(app, 'news')
    await admin.config('SET', 'maxmemory', '1')
    await db.transaction((tx) => count(1, { tx }))
    expect(await count(2).catch((error: HttpError) => error)).to.include({ status: 503 })
    await admin.config('SET', 'maxmemory', '0')
    expect(await nextEvent(reader)).to.equal(1)
    reader.close()
  })

  it('add an event once whose confirmation was lost', async () => {
    const { app, count, db } = await serve()
    const reader = await subscribe(app, 'news')
    const redis = app.container.resolve('redis') as {
      mortarChannelsAdd(...given: unknown[]): Promise<unknown>
    }
    const add = redis.mortarChannelsAdd.bind(redis)
    redis.mortarChannelsAdd = async (...given) => {
      redis.mortarChannelsAdd = add
      await add(...given)
      throw new Error('Connection is closed.')
    }
    await db.transaction((tx) => count(1, { tx }))
    await db.transaction((tx) => count(2, { tx }))
    expect([await nextEvent(reader), await nextEvent(reader)]).to.deep.equal([1, 2])
    await count(LAST)
    expect(await numbersOf(reader)).to.deep.equal([])
    reader.close()
  })

  it('need one more connection for each process, whatever the number of subscribers', async () => {
    const { app } = await serve()
    const connections = async () =>
      String(await admin.client('LIST'))
        .trim()
        .split('\n').length
    const readers = [await subscribe(app, 'news')]
    for (let index = 0; index < 20; index++)
      readers.push(await subscribe(app, `rooms/${index}`, { token: 'ada' }))
    // That of the application, that of the reader, and that of this test.
    expect(await connections()).to.equal(3)
    for (const reader of readers) reader.close()
  })

  it('keep events for their time, and no longer', async () => {
    const { app, count } = await serve()
    const [all, own] = ['shop:{mortar:channels}:events', 'shop:{mortar:channels}:events:news']
    await count(1)
    const long = Date.now() - 300_000
    for (const key of [all, own]) {
      const [[id, fields]] = (await admin.xrange(key, '-', '+', 'COUNT', 1)) as [[string, string[]]]
      expect(id).to.match(/^\d{16}-\d{13}$/)
      for (let number = 1; number <= 5000; number++)
        await admin.xadd(`${key}:old`, `${number}-${long}`, ...fields)
      await admin.xadd(`${key}:old`, id, ...fields)
      await admin.rename(`${key}:old`, key)
    }
    await count(2)
    expect(await admin.xlen(own)).to.equal(2)
    expect(await admin.pttl(own)).to.be.within(60_000, 120_000)
    expect(await admin.xlen(all)).to.be.within(2, 3)
    await app.services.channels.publish(rooms({ id: '1' }), 'count', { number: 1 })
    expect(await admin.xlen('shop:{mortar:channels}:events:rooms/1')).to.equal(1)
  })

  it('stop the start when it is older than 6.2', async () => {
    const redis = { defineCommand: () => undefined, info: async () => 'redis_version:6.0.16\r\n' }
    const error = await redisEngine({ redis } as never)
      .open()
      .catch((thrown: unknown) => thrown)
    expect(error).to.include({ code: 'MORTAR_CHANNELS_OPTION' })
  })

  it('log no outage when their stop ends the read that waits', async () => {
    const lines: string[] = []
    const { app, count } = await serve(recorder(lines))
    const reader = await subscribe(app, 'news')
    await count(1)
    expect(await nextEvent(reader)).to.equal(1)
    await app.close()
    expect(lines.filter((line) => line.startsWith('warn'))).to.deep.equal([])
  })

  it('warn at the start when it may delete events', async () => {
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru')
    const lines: unknown[] = []
    const write = (fields: unknown): void => void lines.push(fields)
    const logger = { debug: write, info: write, warn: write, error: write, fatal: write, trace: write }
    await serve({ ...logger, child: () => logger } as never)
    await admin.config('SET', 'maxmemory-policy', 'noeviction')
    expect(lines).to.deep.include({ brick: 'channels', policy: 'allkeys-lru' })
  })
})
