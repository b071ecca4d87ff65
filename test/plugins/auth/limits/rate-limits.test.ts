import { expect } from 'chai'
import { TooManyRequests, type Limit } from 'mortar'
import { createMemoryLimiter } from 'mortar/kit'
import {
  createRateLimits,
  type LimitRule,
  type LimitSubject,
} from '../../../../plugins/auth/limits/rate-limits.ts'
import { ADA, burst, fromManyIps, LOGIN_WITHOUT_IP, setUp, times } from './limit-bursts.ts'

const ONE = { limit: 1, window: 60 } as const

describe('the rate limits', () => {
  const TABLE: [LimitRule, string, number, number, readonly LimitSubject[]][] = [
    ['login', 'pair', 10, 900, times(200)],
    ['login', 'address', 100, 900, fromManyIps(200)],
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
    it(`let exactly ${limit} of 200 concurrent attempts pass: ${rule} by ${scope}`, async () => {
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
    await burst(limits, 'login', fromManyIps(100))
    await limits.success('login', { ip: '10.0.0.1', email: 'eve@example.com' })
    expect(await burst(limits, 'login', fromManyIps(101).slice(100))).to.have.lengthOf(1)
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

  it('count pairs by the /64 too, and the /48 of a site beside it', async () => {
    const { limits } = setUp(LOGIN_WITHOUT_IP)
    const from = (count: number, ip: (each: number) => string) =>
      Array.from({ length: count }, (_, each) => ({ ...ADA, ip: ip(each) }))
    const [refused] = await burst(
      limits,
      'login',
      from(11, (each) => `2001:db8::${each + 1}`),
    )
    expect(refused).to.have.property('scope', 'pair')
    const narrow = setUp({ limits: { reset: { ip: false, site: { limit: 2, window: 60 } } } }).limits
    const sites = from(3, (each) => `2001:db8:7:${each}::1`)
    expect((await burst(narrow, 'reset', sites)).map(({ scope }) => scope)).to.deep.equal(['site'])
    expect(await burst(narrow, 'reset', [{ ip: '2001:db8:8::1' }, ...times(5)])).to.have.lengthOf(0)
  })

  it('count each session and each user apart', async () => {
    const { limits } = setUp({
      limits: { refresh: { session: ONE }, changePassword: { user: ONE } },
    })
    const names = ['one', 'two', 'two']
    for (const [rule, field] of [
      ['refresh', 'session'],
      ['changePassword', 'user'],
    ] as const)
      expect(
        await burst(
          limits,
          rule,
          names.map((name) => ({ ip: ADA.ip, [field]: name })),
        ),
      ).to.have.lengthOf(1)
  })

  it('give an attempt back, but for the scopes that stay counted', async () => {
    const { limits } = setUp({
      limits: { signup: { ip: { limit: 2, window: 60 }, address: { limit: 1, window: 60 } } },
    })
    await limits.attempt('signup', ADA)
    await limits.giveBack('signup', ADA, ['ip'])
    await limits.attempt('signup', ADA)
    await limits.giveBack('signup', ADA)
    await limits.attempt('signup', ADA)
    const [refused] = await burst(limits, 'signup', times(1))
    expect(refused).to.have.property('scope', 'ip')
  })

  it('count a device apart from strangers, and reset mails of all devices together', async () => {
    const { limits } = setUp()
    const device = (name: string) => ({ ...ADA, device: name })
    const [refused] = await burst(limits, 'login', times(11, device('one')))
    expect(refused).to.have.property('scope', 'device')
    expect(
      await burst(
        limits,
        'login',
        times(10, device('two')).map((each) => ({ ...each, ip: '192.0.2.2' })),
      ),
    ).to.have.lengthOf(0)
    await limits.success('login', device('one'))
    expect(await burst(limits, 'login', times(10, device('one')))).to.have.lengthOf(0)
    const mails = [...times(3, device('one')), ...times(3, device('two'))]
    expect(await burst(limits, 'forgot', mails)).to.have.lengthOf(1)
    expect(await burst(limits, 'forgot', times(5))).to.have.lengthOf(0)
  })

  it('hide addresses with the key they are given', async () => {
    const keysWith = async (key: Buffer): Promise<string[]> => {
      const keys: string[] = []
      const limiter = createMemoryLimiter({ clock: { now: () => 0 } })
      const consume = (name: string, limit: Limit) => {
        keys.push(name)
        return limiter.consume(name, limit)
      }
      await createRateLimits({ key, limiter: { ...limiter, consume } }).attempt('forgot', ADA)
      return keys
    }
    const [one, again, other] = [
      await keysWith(Buffer.alloc(32)),
      await keysWith(Buffer.alloc(32)),
      await keysWith(Buffer.alloc(32, 1)),
    ]
    expect(one).to.have.lengthOf(2)
    expect(again).to.deep.equal(one)
    for (const key of one) expect(other).to.not.include(key)
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
    for (const subject of [ADA, { ...ADA, device: 'one' }, { ...ADA, ip: '2001:db8::1' }])
      expect((await withoutIp.attempt('login', subject)).headers).to.deep.equal({})
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
