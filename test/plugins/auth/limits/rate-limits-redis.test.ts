import { expect } from 'chai'
import { Redis } from 'ioredis'
import { randomBytes } from 'node:crypto'
import type { EventBus } from 'mortar'
import type { AuthEvents } from '../../../../plugins/auth/events/events.ts'
import {
  createRateLimits,
  type RateLimits,
  type RateLimitsOptions,
} from '../../../../plugins/auth/limits/rate-limits.ts'
import { serverUrl } from '../../../support/servers.ts'
import { ADA, burst, fromManyIps, LOGIN_WITHOUT_IP, setUp, times } from './limit-bursts.ts'

describe('the rate limits in Redis', () => {
  /** A client with a given behaviour: connected or not, failing, or silent. */
  function fakeRedis(status: string, answer: () => Promise<unknown>) {
    return { status, defineCommand: () => undefined, rlflxIncr: answer, del: answer }
  }

  function recordingBus() {
    const emitted: [string, object][] = []
    const bus = {
      emit: (type: string, event: object) => void emitted.push([type, event]),
    } as unknown as EventBus<AuthEvents>
    return { bus, emitted }
  }

  const DOWN: Record<string, ReturnType<typeof fakeRedis>> = {
    'is not connected': fakeRedis('reconnecting', () => Promise.reject(new Error('not asked'))),
    'has been closed': fakeRedis('end', () => Promise.reject(new Error('not asked'))),
    'answers with errors': fakeRedis('ready', () =>
      Promise.reject(new Error('READONLY redis://user:canary@host')),
    ),
  }
  for (const [state, redis] of Object.entries(DOWN))
    it(`count in memory while Redis ${state}, and log it once`, async () => {
      const { bus, emitted } = recordingBus()
      const { limits } = setUp({ ...LOGIN_WITHOUT_IP, redis, events: bus })
      expect(await burst(limits, 'login', times(200))).to.have.lengthOf(190)
      await limits.success('login', ADA)
      expect(await burst(limits, 'login', times(10)), 'cleared in memory').to.have.lengthOf(0)
      expect(emitted).to.deep.equal([['auth.limits.degraded', { error: 'Error' }]])
    })

  it('ask Redis again after a while, and say that it is back', async () => {
    const { bus, emitted } = recordingBus()
    let isDown = true
    let asked = 0
    const redis = fakeRedis('ready', async () => {
      asked += 1
      if (isDown) throw new Error('down')
      return [1, 60_000]
    })
    const { clock, limits } = setUp({ redis, events: bus })
    await limits.attempt('reset', ADA)
    await limits.attempt('reset', ADA)
    expect(asked, 'left alone').to.equal(1)
    isDown = false
    clock.advance(4.999)
    await limits.attempt('reset', ADA)
    expect(asked, 'left alone for five seconds').to.equal(1)
    clock.advance(0.001)
    await limits.attempt('reset', ADA)
    expect(asked).to.equal(2)
    expect(emitted.map(([type]) => type)).to.deep.equal(['auth.limits.degraded', 'auth.limits.restored'])
  })

  describe('that runs', () => {
    const url = serverUrl('TEST_REDIS_URL')
    let redis: Redis

    before(async () => {
      redis = new Redis(url)
      await redis.ping()
    })
    after(() => redis.quit())

    /** Two processes with one secret. */
    async function twoProcesses(options: Partial<RateLimitsOptions> = {}) {
      const key = randomBytes(32)
      const before = new Set(await redis.keys('mortar:auth:*'))
      const make = (): RateLimits => createRateLimits({ key, redis, ...options })
      const newKeys = async (): Promise<string[]> =>
        (await redis.keys('mortar:auth:*')).filter((each) => !before.has(each))
      const cleanUp = async (): Promise<void> => {
        const keys = await newKeys()
        if (keys.length > 0) await redis.del(keys)
      }
      return { one: make(), two: make(), newKeys, cleanUp }
    }

    it('let exactly 100 wrong logins of 200 pass over two processes', async () => {
      const { one, two, cleanUp } = await twoProcesses()
      const refused = await Promise.all([
        burst(one, 'login', fromManyIps(200).slice(0, 100)),
        burst(two, 'login', fromManyIps(200).slice(100)),
      ])
      expect(refused.flat()).to.have.lengthOf(100)
      for (const each of refused.flat()) expect(Number(each.headers['Retry-After'])).to.be.within(600, 900)
      await cleanUp()
    })

    it('forget on a success in one process what another counted', async () => {
      const { one, two, cleanUp } = await twoProcesses()
      await burst(one, 'login', times(10))
      await two.success('login', ADA)
      expect(await burst(one, 'login', times(1))).to.have.lengthOf(0)
      await cleanUp()
    })

    it('leave no address and no IP in Redis, and no key without an end', async () => {
      const { one, newKeys, cleanUp } = await twoProcesses()
      await burst(one, 'login', times(3))
      const keys = await newKeys()
      expect(keys).to.have.lengthOf(3)
      for (const key of keys) {
        expect(key).to.match(/^mortar:auth:[0-9a-f]{64}$/)
        expect(await redis.pttl(key)).to.be.greaterThan(0)
      }
      await cleanUp()
    })
  })
})
