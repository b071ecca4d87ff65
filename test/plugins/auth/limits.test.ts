import { expect } from 'chai'
import { onEachStore } from './support/on-each-store.ts'
import { ADA, inWorld as inOneWorld, PASSWORD, resetTokenFor, signedUp, type World } from './support/world.ts'

const limited = { limited: true, app: { trustProxy: ['127.0.0.1'] } }
const from = (ip: string) => ({ 'x-forwarded-for': ip })
const logIn = (world: World, email: string, password: string, ip = '192.0.2.1') =>
  world.client().post('/auth/login', { email, password }, from(ip))

async function statuses(
  count: number,
  send: (index: number) => Promise<{ status: number }>,
): Promise<number[]> {
  const found: number[] = []
  for (let index = 0; index < count; index++) found.push((await send(index)).status)
  return found
}

const expected = (allowed: number, status: number, refused: number): number[] => [
  ...Array.from({ length: allowed }, () => status),
  ...Array.from({ length: refused }, () => 429),
]

onEachStore('rate limits of the auth endpoints', (inWorld) => {
  it('refuse the eleventh wrong login of an address from one network, known or not', () =>
    inWorld(limited, async (world) => {
      await signedUp(world)
      for (const email of [ADA.email, 'eve@example.com'])
        expect(await statuses(12, () => logIn(world, email, 'wrong horse', '198.51.100.7'))).to.deep.equal(
          expected(10, 401, 2),
        )
      expect((await logIn(world, ADA.email, PASSWORD, '198.51.100.8')).status, 'elsewhere').to.equal(200)
    }))

  it('count a refresh that rotates, and not its repetition', () => {
    const limits = { refresh: { session: { limit: 1, window: '1m' } } } as const
    return inWorld({ ...limited, auth: { limits } }, async (world) => {
      const client = await signedUp(world)
      const repeats = client.copy()
      const found = []
      for (const each of [client, repeats, client]) found.push((await each.post('/auth/refresh')).status)
      expect(found).to.deep.equal([200, 200, 429])
    })
  })

  it('count an address in every spelling as one', () =>
    inWorld(limited, async (world) => {
      const spellings = ['ada@example.com', 'ADA@example.com', ' Ada@Example.com ']
      const found = await statuses(11, (n) => logIn(world, spellings[n % 3]!, 'wrong horse'))
      expect(found).to.deep.equal(expected(10, 401, 1))
    }))

  it('allow 30 logins a minute from one network, and count IPv6 by /64', () =>
    inWorld(limited, async (world) => {
      const found = await statuses(31, (n) =>
        logIn(world, `user${n}@example.com`, 'wrong horse', `2001:db8::${n}`),
      )
      expect(found).to.deep.equal(expected(30, 401, 1))
      expect((await logIn(world, 'x@example.com', 'wrong horse', '2001:db8:0:1::1')).status).to.equal(401)
    }))

  it('allow 20 signups a minute from one network', () =>
    inWorld(limited, async (world) => {
      const found = await statuses(21, (n) =>
        world.client().post('/auth/signup', { ...ADA, email: `u${n}@example.com` }),
      )
      expect(found).to.deep.equal(expected(20, 201, 1))
    }))

  it('say in the 429 how tests switch them off, outside tests nothing', async () => {
    for (const [environment, says] of [
      ['test', true],
      ['development', false],
    ] as const)
      await inWorld({ ...limited, app: { ...limited.app, environment } }, async (world) => {
        const answers = []
        for (let n = 0; n < 21; n++) answers.push(await world.client().post('/auth/forgot-password', ADA))
        const detail = String(answers.at(-1)!.body['detail'])
        expect([answers.at(-1)!.status, detail.includes('limits: false')]).to.deep.equal([429, says])
      })
  })

  it('allow 5 requests for a reset of an address in 15 minutes, known or not', () =>
    inWorld(limited, async (world) => {
      await signedUp(world)
      for (const email of [ADA.email, 'eve@example.com'])
        expect(
          await statuses(6, () => world.client().post('/auth/forgot-password', { email })),
        ).to.deep.equal(expected(5, 200, 1))
    }))

  it('allow 20 redemptions a minute from one network', () =>
    inWorld(limited, async (world) => {
      const body = { token: 'A'.repeat(43), password: PASSWORD }
      expect(await statuses(21, () => world.client().post('/auth/reset-password', body))).to.deep.equal(
        expected(20, 401, 1),
      )
    }))

  it('allow 60 refreshes a minute of a session, and a 429 leaves the cookie and the session alone', () =>
    inWorld(limited, async (world) => {
      const client = await signedUp(world)
      expect(await statuses(60, () => client.post('/auth/refresh'))).to.deep.equal(expected(60, 200, 0))
      const answer = await client.post('/auth/refresh')
      expect([answer.status, answer.setCookie]).to.deep.equal([429, undefined])
      world.clock.advance(60)
      expect((await client.post('/auth/refresh')).status).to.equal(200)
    }))

  it('allow 5 wrong current passwords of a user in 15 minutes', () =>
    inWorld(limited, async (world) => {
      const client = await signedUp(world)
      const wrong = { current: 'wrong horse', next: 'another horse' }
      expect(await statuses(6, () => client.post('/auth/change-password', wrong))).to.deep.equal(
        expected(5, 401, 1),
      )
    }))

  it('forget wrong current passwords with a success', () =>
    inWorld(limited, async (world) => {
      const client = await signedUp(world)
      const change = (current: string, next: string) =>
        client.post('/auth/change-password', { current, next })
      expect(await statuses(4, () => change('wrong horse', 'another horse'))).to.deep.equal(
        expected(4, 401, 0),
      )
      expect((await change(PASSWORD, 'another horse')).status).to.equal(200)
      expect(await statuses(5, () => change('wrong horse', 'a third horse'))).to.deep.equal(
        expected(5, 401, 0),
      )
    }))

  it('tell how many tries the network has left, in each response', () =>
    inWorld(limited, async (world) => {
      const answer = await world.client().post('/auth/forgot-password', { email: ADA.email })
      expect(answer.headers).to.include({
        'ratelimit-policy': '"forgot-ip";q=20;w=60',
        ratelimit: '"forgot-ip";r=19;t=60',
      })
    }))

  it('emit one event for an attempt beyond a limit', () =>
    inWorld(limited, async (world) => {
      await statuses(6, () => world.client().post('/auth/forgot-password', { email: ADA.email }))
      expect(world.events.at(-1)).to.deep.include({ type: 'auth.password.reset.request.limited' })
      expect(world.events.at(-1)!.event).to.include({ scope: 'address', email: ADA.email })
    }))

  it('can be changed one by one and switched off', async () => {
    const fail = (world: World) => statuses(12, () => logIn(world, ADA.email, 'wrong horse'))
    await inWorld(
      { ...limited, auth: { limits: { login: { address: { limit: 2, window: '1m' } } } } },
      async (world) => expect(await fail(world)).to.deep.equal(expected(2, 401, 10)),
    )
    await inWorld({ ...limited, auth: { limits: { login: false } } }, async (world) =>
      expect(await fail(world)).to.deep.equal(expected(12, 401, 0)),
    )
  })
})

// The counters are the same whatever the store, so hundreds of attempts are made on one of them.
describe('rate limits of the auth endpoints after many attempts', () => {
  it('refuse wrong login 101 of an address from anywhere, for known and unknown ones alike', () =>
    inOneWorld(limited, async (world) => {
      await signedUp(world)
      for (const email of [ADA.email, 'eve@example.com']) {
        const ips = (n: number) => `198.51.100.${n}`
        expect(await statuses(102, (n) => logIn(world, email, 'wrong horse', ips(n)))).to.deep.equal(
          expected(100, 401, 2),
        )
      }
      const late = await logIn(world, ADA.email, PASSWORD, '203.0.113.9')
      expect(late.status).to.equal(429)
      expect(late.body.code).to.equal('too_many_requests')
      expect(late.body, 'the same bytes for every request').to.not.have.property('instance')
      expect(late.headers['retry-after']).to.equal('900')
      expect(late.headers).to.include.keys('ratelimit', 'ratelimit-policy')
      expect(late.headers['cache-control']).to.equal('no-store')
      world.clock.advance(900)
      expect((await logIn(world, ADA.email, PASSWORD)).status).to.equal(200)
    }))

  it('forget the failures of an address with a success', () =>
    inOneWorld(limited, async (world) => {
      await signedUp(world)
      await statuses(99, (n) => logIn(world, ADA.email, 'wrong horse', `198.51.100.${n}`))
      expect((await logIn(world, ADA.email, PASSWORD)).status).to.equal(200)
      expect(
        await statuses(100, (n) => logIn(world, ADA.email, 'wrong horse', `203.0.113.${n}`)),
      ).to.deep.equal(expected(100, 401, 0))
    }))

  it('let the owner in after a reset, whoever used the failures up', () =>
    inOneWorld(limited, async (world) => {
      await signedUp(world)
      await statuses(101, (n) => logIn(world, ADA.email, 'wrong horse', `198.51.100.${n}`))
      expect((await logIn(world, ADA.email, PASSWORD, '203.0.113.9')).status).to.equal(429)
      const token = await resetTokenFor(world)
      await world
        .client()
        .post('/auth/reset-password', { token, password: 'another horse' }, from('192.0.2.1'))
      expect((await logIn(world, ADA.email, 'another horse')).status).to.equal(200)
    }))

  it('allow 300 logins a minute from one IPv6 site, a /48', () =>
    inOneWorld(limited, async (world) => {
      const ip = (n: number) => `2001:db8:7:${n.toString(16)}::1`
      const found = await statuses(301, (n) => logIn(world, `user${n}@example.com`, 'wrong horse', ip(n)))
      expect(found).to.deep.equal(expected(300, 401, 1))
      expect((await logIn(world, 'x@example.com', 'wrong horse', '2001:db8:8::1')).status).to.equal(401)
    }))
})
