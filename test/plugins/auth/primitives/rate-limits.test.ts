import { expect } from 'chai'
import { randomBytes } from 'node:crypto'
import { TooManyRequests, type EventBus } from '../../../../src/index.ts'
import type { AuthEvents } from '../../../../plugins/auth/events.ts'
import {
  createRateLimits,
  LimitReached,
  type LimitRule,
  type LimitSubject,
  type RateLimits,
  type RateLimitsOptions,
} from '../../../../plugins/auth/rate-limits.ts'
import { serverUrl } from '../../../support/servers.ts'
import { TestClock } from './clock.ts'

const ADA: LimitSubject = { ip: '192.0.2.1', email: 'ada@example.com' }
const LOGIN_WITHOUT_IP = { limits: { login: { ip: false } } } as const

function setUp(options: Partial<RateLimitsOptions> = {}) {
  const clock = new TestClock()
  return { clock, limits: createRateLimits({ key: randomBytes(32), clock, ...options }) }
}

/** The rejections of so many attempts at once; the rest were allowed. */
async function burst(
  limits: RateLimits,
  rule: LimitRule,
  subjects: readonly LimitSubject[],
): Promise<LimitReached[]> {
  const outcomes = await Promise.allSettled(subjects.map((subject) => limits.attempt(rule, subject)))
  return outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason as LimitReached] : []))
}

const times = (count: number, subject: LimitSubject = ADA): LimitSubject[] =>
  Array.from({ length: count }, () => subject)
const fromManyIps = (count: number, email = 'ada@example.com'): LimitSubject[] =>
  Array.from({ length: count }, (_, index) => ({ ip: `10.0.${index >> 8}.${index & 255}`, email }))

describe('the rate limits', () => {
  const TABLE: [LimitRule, string, number, number, readonly LimitSubject[]][] = [
    ['login', 'pair', 10, 900, times(200)],
    ['login', 'address', 10, 900, fromManyIps(200)],
    [
      'login',
      'ip',
      30,
      60,
      Array.from({ length: 200 }, (_, each) => ({ ip: '192.0.2.1', email: `user${each}@example.com` })),
    ],
    [
      'signup',
      'ip',
      20,
      60,
      Array.from({ length: 200 }, (_, each) => ({ ip: '192.0.2.1', email: `user${each}@example.com` })),
    ],
    ['signup', 'address', 5, 3600, fromManyIps(200)],
    [
      'forgot',
      'ip',
      20,
      60,
      Array.from({ length: 200 }, (_, each) => ({ ip: '192.0.2.1', email: `user${each}@example.com` })),
    ],
    ['forgot', 'address', 5, 900, fromManyIps(200)],
    ['reset', 'ip', 20, 60, times(200)],
    ['refresh', 'session', 60, 60, times(200, { ip: '192.0.2.1', session: 'one' })],
    ['changePassword', 'user', 5, 900, times(200, { ip: '192.0.2.1', user: 'ada' })],
  ]
  for (const [rule, scope, limit, window, subjects] of TABLE)
    it(`let exactly ${limit} of 200 at once pass: ${rule} by ${scope}`, async () => {
      const { clock, limits } = setUp(scope === 'pair' ? LOGIN_WITHOUT_IP : {})
      const refused = await burst(limits, rule, subjects)
      expect(refused).to.have.lengthOf(200 - limit)
      expect(new Set(refused.map((each) => each.scope))).to.deep.equal(new Set([scope]))
      for (const each of refused) {
        expect(each)
          .to.be.instanceOf(TooManyRequests)
          .and.include({ status: 429, rule, code: 'too_many_requests' })
        expect(each.headers).to.deep.equal({
          'Retry-After': String(window),
          'RateLimit-Policy': `"${rule}-${scope}";q=${limit};w=${window}`,
          RateLimit: `"${rule}-${scope}";r=0;t=${window}`,
        })
      }
      clock.time += window * 1000 - 1
      expect(
        await burst(limits, rule, subjects.slice(0, 1)),
        'a millisecond before the end',
      ).to.have.lengthOf(1)
      clock.time += 1
      expect(await burst(limits, rule, subjects.slice(0, 1)), 'at the end').to.have.lengthOf(0)
    })

  it('say when to come again, rounded up to whole seconds', async () => {
    const { clock, limits } = setUp()
    await burst(limits, 'reset', times(20))
    clock.time += 58_001
    const [refused] = await burst(limits, 'reset', times(1))
    expect(refused!.headers).to.include({ 'Retry-After': '2', RateLimit: '"reset-ip";r=0;t=2' })
  })

  it('count wrong logins of one address and forget them on a success', async () => {
    const { limits } = setUp(LOGIN_WITHOUT_IP)
    expect(await burst(limits, 'login', times(9))).to.have.lengthOf(0)
    await limits.success('login', ADA)
    expect(await burst(limits, 'login', times(20))).to.have.lengthOf(10)
  })

  it('keep counting the tries of an IP over its successes', async () => {
    const { limits } = setUp()
    for (let each = 0; each < 30; each += 1) {
      await limits.attempt('login', ADA)
      await limits.success('login', ADA)
    }
    const [refused] = await burst(limits, 'login', times(1))
    expect(refused).to.have.property('scope', 'ip')
  })

  it('forgive no address but that of the success', async () => {
    const { limits } = setUp()
    await burst(limits, 'login', fromManyIps(10))
    await limits.success('login', { ip: '10.0.0.1', email: 'eve@example.com' })
    expect(await burst(limits, 'login', fromManyIps(1))).to.have.lengthOf(1)
  })

  it('forget failed changes of a password on a success', async () => {
    const { limits } = setUp()
    const user = { ip: '192.0.2.1', user: 'ada' }
    await burst(limits, 'changePassword', times(5, user))
    await limits.success('changePassword', user)
    expect(await burst(limits, 'changePassword', times(5, user))).to.have.lengthOf(0)
  })

  it('forget nothing on a success of signup, forgot, reset and refresh', async () => {
    const { limits } = setUp()
    const subject = { ...ADA, session: 'one' }
    for (const [rule, limit] of [
      ['signup', 5],
      ['forgot', 5],
      ['reset', 20],
      ['refresh', 60],
    ] as const) {
      await burst(limits, rule, times(limit, subject))
      await limits.success(rule, subject)
      expect(await burst(limits, rule, times(1, subject)), rule).to.have.lengthOf(1)
    }
  })

  it('do not spend the budget of an address on tries that its pair is already refused', async () => {
    const { limits } = setUp({ limits: { login: { ip: false, address: { limit: 15, window: '15m' } } } })
    await burst(limits, 'login', times(200))
    expect(await burst(limits, 'login', fromManyIps(5)), 'the owner, from elsewhere').to.have.lengthOf(0)
  })

  it('count the /64 of an IPv6 address as one client, and an IPv4 address however it is written', async () => {
    const { limits } = setUp()
    const neighbours = Array.from({ length: 40 }, (_, each) => ({
      ip: `2001:db8::${(each + 1).toString(16)}`,
    }))
    expect(await burst(limits, 'reset', neighbours)).to.have.lengthOf(20)
    expect(await burst(limits, 'reset', [{ ip: '2001:db8:0:1::1' }])).to.have.lengthOf(0)
    expect(
      await burst(limits, 'reset', [...times(20, { ip: '192.0.2.9' }), { ip: '::ffff:192.0.2.9' }]),
    ).to.have.lengthOf(1)
  })

  it('keep rules apart', async () => {
    const { limits } = setUp()
    await burst(limits, 'forgot', times(30))
    expect(await burst(limits, 'reset', times(1))).to.have.lengthOf(0)
    expect(await burst(limits, 'login', times(1))).to.have.lengthOf(0)
  })

  it('tell a caller how many tries its IP has left, and nothing about an account', async () => {
    const { limits } = setUp()
    expect((await limits.attempt('login', ADA)).headers).to.deep.equal({
      'RateLimit-Policy': '"login-ip";q=30;w=60',
      RateLimit: '"login-ip";r=29;t=60',
    })
    const withoutIp = setUp(LOGIN_WITHOUT_IP).limits
    expect((await withoutIp.attempt('login', ADA)).headers).to.deep.equal({})
  })

  it('limit nothing that is switched off', async () => {
    expect(await burst(setUp({ limits: false }).limits, 'login', times(200))).to.have.lengthOf(0)
    expect(await burst(setUp({ limits: { login: false } }).limits, 'login', times(200))).to.have.lengthOf(0)
  })

  it('hold under a flood of invented addresses, in bounded room', async () => {
    const { limits } = setUp({ ...LOGIN_WITHOUT_IP, capacity: 100 })
    await burst(limits, 'login', times(10))
    await burst(
      limits,
      'login',
      Array.from({ length: 5000 }, (_, each) => ({ ip: ADA.ip, email: `x${each}@example.com` })),
    )
    expect(await burst(limits, 'login', times(20))).to.have.lengthOf(20)
  })

  it('say nothing of the address in the error', async () => {
    const { limits } = setUp()
    const [refused] = await burst(limits, 'login', times(11))
    const { message, headers, extensions } = refused!
    expect(JSON.stringify({ message, headers, extensions })).to.not.match(/ada|example\.com|192\.0/)
  })
})

describe('the rate limits in Redis', () => {
  /** A client that answers as told: connected or not, with an error, or never. */
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
    it(`count in memory while Redis ${state}, and say so once`, async () => {
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
    clock.advance(5)
    await limits.attempt('reset', ADA)
    expect(asked).to.equal(2)
    expect(emitted.map(([type]) => type)).to.deep.equal(['auth.limits.degraded', 'auth.limits.restored'])
  })

  describe('that runs', () => {
    const url = serverUrl('TEST_REDIS_URL')
    let redis: import('ioredis').Redis

    before(async () => {
      const { Redis } = await import('ioredis')
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

    it('let exactly 10 wrong logins of 200 pass over two processes', async () => {
      const { one, two, cleanUp } = await twoProcesses()
      const refused = await Promise.all([
        burst(one, 'login', fromManyIps(100)),
        burst(two, 'login', fromManyIps(100)),
      ])
      expect(refused.flat()).to.have.lengthOf(190)
      for (const each of refused.flat()) expect(Number(each.headers['Retry-After'])).to.be.within(890, 900)
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
        expect(key).to.match(/^mortar:auth:login:(ip|pair|address):[A-Za-z0-9_-]{43}$/)
        expect(await redis.pttl(key)).to.be.greaterThan(0)
      }
      await cleanUp()
    })
  })
})
