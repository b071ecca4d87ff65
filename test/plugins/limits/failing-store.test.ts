import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { createApp, type Limiter, type Logger } from 'mortar'
import { limits, type LimitsEvents, type LimitsOptions } from '@mortar/limits'
import { Redis } from 'ioredis'
import { serverUrl } from '../../support/servers.ts'
import { TestClock } from '../auth/support/clock.ts'

describe('limits() with a store that fails', () => {
  it('logs the reason once, and has a gauge', async () => {
    const lines: unknown[] = []
    const keep = (...given: unknown[]): void => void lines.push(given)
    const ignore = (): void => undefined
    const logger: Logger = { debug: ignore, info: keep, warn: keep, error: keep, child: () => logger }
    const client = { status: 'reconnecting', defineCommand: ignore, rlflxIncr: async () => [1, 1000] }
    const clock = new TestClock()
    const app = createApp({ logger, clock }).use(limits({ store: client }))
    const events: unknown[] = []
    for (const name of ['limits.degraded', 'limits.restored'] as const)
      app.events.typed<LimitsEvents>().on(name, (event) => void events.push({ name, ...event }))
    await app.ready()
    lines.length = 0
    const limiter = app.container.resolve<Limiter>('limiter')
    const degraded = (): unknown => app.services.gauges.all.get('limits_degraded')!.read()
    expect(degraded()).to.equal(0)
    // One worker that counts alone is shown.
    expect(app.services.gauges.all.get('limits_degraded')).to.have.property('combine', 'max')
    for (let times = 0; times < 2; times++)
      expect((await limiter.consume('a', { limit: 3, window: '1h' })).allowed).to.equal(true)
    expect(lines).to.deep.equal([
      [
        { brick: 'limits', error: 'Error', reason: 'The store is not connected.' },
        'The store of the limits fails, so limits are counted in memory: The store is not connected.',
      ],
    ])
    expect(degraded()).to.equal(1)
    client.status = 'ready'
    clock.advance(5)
    expect((await limiter.consume('a', { limit: 3, window: '1h' })).allowed).to.equal(true)
    expect(degraded()).to.equal(0)
    expect(lines.slice(1)).to.deep.equal([
      [
        { event: 'outage.over', back: ['limits'], failing: [], failures: {}, reasons: [] },
        'Works again: limits.',
      ],
    ])
    expect(events).to.deep.equal([{ name: 'limits.degraded', error: 'Error' }, { name: 'limits.restored' }])
    await app.close()
  })

  const silences: readonly (readonly [LimitsOptions['timeout'] | undefined, number])[] = [
    [undefined, 1000],
    ['2s', 2000],
    [3, 3000],
  ]
  for (const [timeout, milliseconds] of silences)
    it(`calls the store silent after ${milliseconds} ms with the timeout ${timeout ?? 'of the default'}`, async () => {
      const silent = () => new Promise<never>(() => {})
      const client = { status: 'ready', defineCommand: () => undefined, rlflxIncr: silent }
      const app = createApp({ logger: false })
      app.use(limits({ store: client, ...(timeout !== undefined && { timeout }) }))
      await app.ready()
      const degraded = (): unknown => app.services.gauges.all.get('limits_degraded')!.read()
      let now = 0
      const advance = async (time: number): Promise<void> => {
        now += time
        mock.timers.tick(time)
        for (let turn = 0; turn < 5; turn++) await nextTurn()
      }
      mock.method(performance, 'now', () => now)
      mock.timers.enable({ apis: ['setTimeout'] })
      try {
        const counted = app.container.resolve<Limiter>('limiter').consume('a', { limit: 3, window: '1h' })
        await nextTurn()
        await advance(milliseconds - 1)
        expect(degraded()).to.equal(0)
        await advance(1)
        expect([degraded(), (await counted).allowed]).to.deep.equal([1, true])
      } finally {
        mock.timers.reset()
        mock.restoreAll()
      }
      await app.close()
    })

  it('counts with the rules of its options', async () => {
    const rules = { search: { limit: 1, window: '1h', by: 'ip' } } as const
    const client = { status: 'end', defineCommand: () => undefined }
    for (const store of ['memory', client] as const) {
      const app = await createApp({ logger: false }).use(limits({ store, rules })).ready()
      expect(app.services.limiter.rules, String(store)).to.deep.equal(rules)
      await app.close()
    }
  })
})

describe('limits() with a client of Redis that is not connected yet', () => {
  const url = serverUrl('TEST_REDIS_URL')
  for (const lazyConnect of [false, true])
    it(`counts in it from the first request: ${lazyConnect ? 'lazy' : 'connecting'}`, async () => {
      const client = new Redis(url, { lazyConnect })
      const app = createApp({ logger: false }).use(limits({ store: client }))
      await app.ready()
      const limiter = app.container.resolve<Limiter>('limiter')
      await limiter.consume(`first of ${process.hrtime.bigint()}`, { limit: 3, window: '1s' })
      expect(app.services.gauges.all.get('limits_degraded')!.read()).to.equal(0)
      await app.close()
      client.disconnect()
    })

  it('starts without it when it cannot be reached, and counts in memory', async () => {
    const client = new Redis(1, '127.0.0.1', { lazyConnect: true, retryStrategy: null })
    const app = createApp({ logger: false }).use(limits({ store: client, timeout: '50ms' }))
    await app.ready()
    const limiter = app.container.resolve<Limiter>('limiter')
    expect((await limiter.consume('a', { limit: 3, window: '1s' })).allowed).to.equal(true)
    expect(app.services.gauges.all.get('limits_degraded')!.read()).to.equal(1)
    await app.close()
    client.disconnect()
  })
})
