import { expect } from 'chai'
import { createApp, type Limiter, type Logger } from 'mortar'
import { limits } from '@mortar/limits'

describe('limits() with a store that fails', () => {
  it('logs the reason once, and has a gauge', async () => {
    const lines: unknown[] = []
    const keep = (...given: unknown[]): void => void lines.push(given)
    const ignore = (): void => undefined
    const logger: Logger = { debug: ignore, info: ignore, warn: keep, error: keep, child: () => logger }
    const client = { status: 'reconnecting', defineCommand: ignore }
    const app = createApp({ logger }).use(limits({ store: client }))
    await app.ready()
    const limiter = app.container.resolve<Limiter>('limiter')
    const degraded = (): unknown => app.services.gauges.all.get('limits_degraded')!.read()
    expect(degraded()).to.equal(0)
    for (let times = 0; times < 2; times++)
      expect((await limiter.consume('a', { limit: 3, window: '1h' })).allowed).to.equal(true)
    expect(lines).to.deep.equal([
      [
        { brick: 'limits', error: 'Error', reason: 'The store is not connected.' },
        'The store of the limits fails, so limits are counted in memory: The store is not connected.',
      ],
    ])
    expect(degraded()).to.equal(1)
    await app.close()
  })
})
