import { expect } from 'chai'
import { createApp, type Limiter, type Logger } from 'mortar'
import { limits } from '@mortar/limits'
import { Redis } from 'ioredis'
import { serverUrl } from '../../support/servers.ts'
import { TestClock } from '../auth/support/clock.ts'

describe('limits() with a store that fails', () => {
  it('logs the reason once, and has a gauge', async () => {
    const lines: unknown[] = []
    const keep = (...given: unknown[]): void => void lines.push(given)
    const ignore = (): void => undefined
    const logger: Logger = { debug: ignore, info: ignore, warn: keep, error: keep, child: () => logger }
    const client = { status: 'reconnecting', defineCommand: ignore, rlflxIncr: async () => [1, 1000] }
    const clock = new TestClock()
    const app = createApp({ logger, clock }).use(limits({ store: client }))
    await app.ready()
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
    await app.close()
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
