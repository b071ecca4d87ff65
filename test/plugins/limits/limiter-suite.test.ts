import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, type App, type Limiter } from 'mortar'
import { database } from '@mortar/database'
import { limits, type LimitsEvents } from '@mortar/limits'
import * as schema from '@mortar/limits/schema'
import { redis } from '@mortar/redis'
import { KINDS } from '../database/databases.ts'
import { serverUrl } from '../../support/servers.ts'

const LIMIT = { limit: 3, window: '1h' }

/** The contract of the service `limiter`, for every store. `prefix` keeps the keys of a run apart. */
function limiterSuite(isShared: boolean, open: () => Promise<App>): void {
  const prefix = `${process.pid}-${process.hrtime.bigint()}-`
  let app: App
  let limiter: Limiter
  const failures: unknown[] = []

  before(async () => {
    app = await open()
    app.events.typed<LimitsEvents>().on('limits.degraded', (event) => failures.push(event))
    await app.ready()
    limiter = app.container.resolve('limiter')
  })
  after(() => app?.close())

  const consume = async (key: string, limit = LIMIT) => limiter.consume(prefix + key, limit)
  const allowed = async (key: string, limit = LIMIT): Promise<boolean> => (await consume(key, limit)).allowed

  it('allows as many requests as the limit, and reports what remains', async () => {
    const counts = [await consume('a'), await consume('a'), await consume('a'), await consume('a')]
    expect(counts.map((count) => [count.allowed, count.remaining])).to.deep.equal([
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
    ])
    for (const { resetIn } of counts) expect(resetIn).to.be.within(3_000_000, 3_600_000)
  })

  it('is exact for concurrent requests', async () => {
    const limit = { limit: 10, window: '1h' }
    const counts = await Promise.all(Array.from({ length: 100 }, async () => allowed('concurrent', limit)))
    expect(counts.filter(Boolean)).to.have.lengthOf(10)
  })

  it('is exact for many different keys at the same time', async () => {
    const keys = Array.from({ length: 2800 }, (_, index) => `many-${(index * 37) % 700}`)
    const counts = await Promise.all(keys.map(async (key) => ({ key, ...(await consume(key)) })))
    const remaining = new Map<string, number[]>()
    for (const { key, ...count } of counts)
      remaining.set(key, [...(remaining.get(key) ?? []), count.allowed ? count.remaining : -1])
    expect(remaining.size).to.equal(700)
    for (const [key, each] of remaining) expect(each, key).to.deep.equal([2, 1, 0, -1])
  })

  it('counts keys with different windows at the same time', async () => {
    const windows = ['1h', '2h', '3h', '1h']
    const counts = await Promise.all(windows.map((window) => consume('windows', { limit: 3, window })))
    expect(counts.map(({ remaining }) => remaining)).to.deep.equal([2, 2, 2, 1])
    for (const [index, hours] of [1, 2, 3].entries())
      expect(counts[index]!.resetIn).to.be.within(hours * 3_600_000 - 60_000, hours * 3_600_000)
  })

  it('subtracts nothing below zero, and nothing from a key that was never counted', async () => {
    await limiter.giveBack(`${prefix}unknown`, LIMIT)
    for (let index = 0; index < 2; index++) expect(await allowed('unknown')).to.equal(true)
    expect((await consume('unknown')).remaining).to.equal(0)
  })

  it('keeps similar keys apart', async () => {
    const keys = [
      'Ada',
      'ada',
      'ÁDA',
      'ada ',
      'a%64a',
      'ada\0',
      `${'x'.repeat(5000)}1`,
      `${'x'.repeat(5000)}2`,
      '',
    ]
    for (const key of keys) expect((await consume(`similar-${key}`)).remaining, key).to.equal(2)
  })

  it('counts a key apart for each limit', async () => {
    expect((await consume('apart')).remaining).to.equal(2)
    expect((await consume('apart', { limit: 5, window: '1h' })).remaining).to.equal(4)
    expect((await consume('apart', { limit: 3, window: '2h' })).remaining).to.equal(2)
  })

  it('resets a key, and subtracts one request', async () => {
    for (let index = 0; index < 4; index++) await consume('reset')
    await limiter.clear(`${prefix}reset`, LIMIT)
    expect([await allowed('reset'), await allowed('reset'), await allowed('reset')]).to.deep.equal([
      true,
      true,
      true,
    ])
    await limiter.giveBack(`${prefix}reset`, LIMIT)
    expect([await allowed('reset'), await allowed('reset')]).to.deep.equal([true, false])
  })

  it('has used its store all the time', async () => {
    await allowed('store')
    expect(failures).to.deep.equal([])
    expect(limiter.isShared).to.equal(isShared)
  })

  it('begins a new window after the end of the old one', async () => {
    const limit = { limit: 1, window: '1s' }
    // On a loaded machine, a window may end before its second request: then another key begins.
    for (let key = 0; ; key++) {
      const begin = performance.now()
      expect(await allowed(`window${key}`, limit)).to.equal(true)
      const { allowed: isAllowed, resetIn } = await consume(`window${key}`, limit)
      if (performance.now() - begin > 900) continue
      expect(isAllowed).to.equal(false)
      await wait(resetIn + 50)
      expect(await allowed(`window${key}`, limit)).to.equal(true)
      return
    }
  })
}

const plain = () => createApp({ environment: 'test', logger: false })

describe('the limiter in memory', () => {
  limiterSuite(false, async () => plain().use(limits()))
})

for (const [kind, places] of Object.entries(KINDS))
  describe(`the limiter in the database (${kind})`, () => {
    const place = places('suite')
    limiterSuite(true, async () => {
      const source = await place().open(schema)
      await source.synchronize()
      return plain()
        .use(database(source))
        .use(limits({ store: 'database' }))
    })
  })

describe('the limiter in Redis', () => {
  const url = serverUrl('TEST_REDIS_URL')
  limiterSuite(true, async () =>
    plain()
      .use(redis({ url }))
      .use(limits({ store: 'redis' })),
  )
})
