import { once } from 'node:events'
import { createRequire } from 'node:module'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { createClient } from '../../../plugins/redis/client.ts'
import { keepsTimer, stopTimerOnClose } from '../../../plugins/redis/compat/ioredis.ts'
import { changedModule } from '../../support/changed-module.ts'

const FILE = createRequire(createRequire(import.meta.url).resolve('ioredis')).resolve('./Redis.js')

describe('The timer of a silent connection in ioredis', () => {
  it('ends a connection after five seconds, unless the options of the application have another time', () => {
    const timeOf = (options: object) => {
      const settings = { url: 'redis://127.0.0.1', options, client: undefined, startTimeout: 5000 }
      const { socketTimeout, connectTimeout } = createClient(settings).options
      return [socketTimeout, connectTimeout]
    }
    expect([timeOf({}), timeOf({ socketTimeout: 60_000 })]).to.deep.equal([
      [5000, 5000],
      [60_000, 5000],
    ])
  })

  it('is found in this version', () => {
    expect(keepsTimer(Redis)).to.equal(true)
  })

  it('ends with a lost connection, so that a command on the next one starts another', () => {
    const client = stopTimerOnClose(new Redis({ lazyConnect: true, socketTimeout: 60_000 }), Redis)
    const inner = client as unknown as { socketTimeoutTimer: NodeJS.Timeout | undefined }
    const timer = setTimeout(() => undefined, 60_000)
    inner.socketTimeoutTimer = timer
    client.emit('close')
    expect(inner.socketTimeoutTimer).to.equal(undefined)
    expect(timer).to.have.property('_destroyed', true)
  })

  it('does not end the process if its socket has another name', async () => {
    const { default: Changed } = changedModule(FILE, (source) =>
      source.replaceAll('this.stream', 'this.link'),
    ) as { default: typeof Redis }
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    expect(keepsTimer(Changed)).to.equal(false)
    expect(timers()).to.equal(before)
  })

  for (const member of ['socketTimeoutTimer', 'setSocketTimeout'])
    it(`is left alone, with one warning, if ${member} has another name`, async () => {
      const { default: Changed } = changedModule(FILE, (source) => source.replaceAll(member, 'other')) as {
        default: typeof Redis
      }
      expect(keepsTimer(Changed)).to.equal(false)
      const client = new Changed({ lazyConnect: true })
      if (member === 'socketTimeoutTimer') {
        const warning = once(process, 'warning')
        stopTimerOnClose(client, Changed)
        expect(String((await warning)[0])).to.match(/ioredis \d+\.\d+\.\d+ keeps the timer.+npm ls ioredis/)
      }
      expect(stopTimerOnClose(client, Changed).listenerCount('close')).to.equal(0)
    })
})
