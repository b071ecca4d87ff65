import { expect } from 'chai'
import { throughBothAdapters } from '../../../support/adapters.ts'
import {
  cookieOf,
  newcomer,
  serviceBuilder,
  PASSWORD,
  resetTokenFor,
  type Service,
  type ServiceOptions,
} from './service.ts'

const ADA = { name: 'Ada', email: 'ada@example.com', password: PASSWORD }

describe('limits of the auth endpoints, as the contract has them', () => {
  throughBothAdapters((open) => {
    const build = serviceBuilder(open)
    /** Sends from a client address that the trusted proxy forwards. */
    const from = (ip: string) => ({ 'x-forwarded-for': ip })
    const behindProxy: ServiceOptions = { limited: true, app: { trustProxy: ['127.0.0.1'] } }

    it('stops at the limit of an address, known or not, in any spelling, from anywhere', async () => {
      const service = await build({
        ...behindProxy,
        auth: { limits: { login: { address: { limit: 10, window: '15m' } } } },
      })
      await service.post('/auth/signup', ADA, from('192.0.2.1'))
      const spellings = ['ada@example.com', ' ADA@example.com', 'Ada@Example.Com ']
      for (const base of ['ada', 'nobody']) {
        const statuses: number[] = []
        for (let n = 0; n < 12; n++) {
          const email = spellings[n % 3]!.replace(/ada/i, (it) => (base === 'ada' ? it : base))
          statuses.push(
            (
              await service.post(
                '/auth/login',
                { email, password: 'wrong password' },
                from(`198.51.100.${n}`),
              )
            ).status,
          )
        }
        expect(statuses).to.deep.equal([...Array.from({ length: 10 }, () => 401), 429, 429])
      }
      const reply = await service.post(
        '/auth/login',
        { email: ADA.email, password: PASSWORD },
        from('203.0.113.9'),
      )
      expect(reply.status).to.equal(429)
      expect(Number(reply.headers['retry-after'])).to.be.within(1, 900)
      expect(reply.headers['ratelimit']).to.match(/^"[\w-]+";r=0;t=\d+$/)
      expect(reply.headers['ratelimit-policy']).to.match(/^"[\w-]+";q=10;w=900$/)
      service.clock.advance('15m')
      expect(
        (await service.post('/auth/login', { email: ADA.email, password: PASSWORD }, from('203.0.113.9')))
          .status,
      ).to.equal(200)
    })

    it('clears the failures of an address with a success', async () => {
      const service = await build(behindProxy)
      await service.post('/auth/signup', ADA, from('192.0.2.1'))
      for (let round = 0; round < 3; round++) {
        for (let n = 0; n < 9; n++)
          expect(
            (
              await service.post(
                '/auth/login',
                { ...ADA, password: 'wrong password' },
                from(`198.51.100.${n}`),
              )
            ).status,
          ).to.equal(401)
        expect((await service.post('/auth/login', ADA, from('192.0.2.1'))).status).to.equal(200)
        service.clock.advance('1m')
      }
    })

    const evasions: [string, (n: number) => Record<string, string>, string][] = [
      ['X-Forwarded-For from a client that is not a proxy', (n) => from(`192.0.2.${n}`), '/auth/login'],
      ['Forwarded', (n) => ({ forwarded: `for=192.0.2.${n}` }), '/auth/login'],
      [
        'X-Real-IP and its kin',
        (n) => ({
          'x-real-ip': `192.0.2.${n}`,
          'cf-connecting-ip': `192.0.2.${n}`,
          'true-client-ip': `1.1.1.${n}`,
        }),
        '/auth/login',
      ],
      ['another user agent', (n) => ({ 'user-agent': `agent ${n}` }), '/auth/login'],
    ]
    for (const [what, headersOf, path] of evasions)
      it(`is not evaded by ${what}`, async () => {
        const service = await build({ limited: true })
        const statuses: number[] = []
        for (let n = 0; n < 31; n++)
          statuses.push(
            (
              await service.post(
                path,
                { email: `u${n}@example.com`, password: 'wrong password' },
                headersOf(n),
              )
            ).status,
          )
        expect(statuses).to.deep.equal([...Array.from({ length: 30 }, () => 401), 429])
      })

    it('is not evaded by what a client writes into X-Forwarded-For before its proxy', async () => {
      const service = await build(behindProxy)
      let last = 0
      for (let n = 0; n < 31; n++)
        last = (
          await service.post(
            '/auth/login',
            { email: `u${n}@example.com`, password: 'wrong password' },
            from(`10.9.8.${n}, 203.0.113.7`),
          )
        ).status
      expect(last).to.equal(429)
    })

    it('counts one /64 of IPv6 and an IPv4 address in any spelling as one client', async () => {
      const service = await build(behindProxy)
      const networks = [
        (n: number) => `2001:db8:1:2::${n.toString(16)}`,
        (n: number) => (n % 2 ? '::ffff:198.51.100.4' : '198.51.100.4'),
      ]
      for (const [index, network] of networks.entries()) {
        let last = 0
        for (let n = 0; n < 31; n++)
          last = (
            await service.post(
              '/auth/login',
              { email: `v${index}.${n}@example.com`, password: 'wrong password' },
              from(network(n)),
            )
          ).status
        expect(last).to.equal(429)
      }
      const neighbour = await service.post(
        '/auth/login',
        { email: 'w@example.com', password: 'wrong password' },
        from('2001:db8:1:3::1'),
      )
      expect(neighbour.status).to.equal(401)
    })

    it('counts every spelling of the path together, or knows it not', async () => {
      const service = await build({ limited: true })
      const paths = [
        '/auth/login',
        '/auth/login/',
        '//auth/login',
        '/auth//login',
        '/AUTH/LOGIN',
        '/auth/%6cogin',
        '/auth/./login',
        '/auth/login?x=1',
        '/auth/login;x=1',
      ]
      let counted = 0
      for (let n = 0; n < 90; n++) {
        const { status } = await service.post(paths[n % paths.length]!, {
          email: `x${n}@example.com`,
          password: 'wrong password',
        })
        expect(status).to.be.oneOf([401, 404, 429])
        if (status === 401) counted++
      }
      expect(counted).to.equal(30)
    })

    const budgets: [string, number, (service: Service, n: number) => Promise<{ status: number }>][] = [
      ['signups of one address', 5, (service, n) => service.post('/auth/signup', ADA, from(`192.0.2.${n}`))],
      [
        'signups from one address',
        20,
        (service, n) => service.post('/auth/signup', { ...ADA, email: `s${n}@example.com` }),
      ],
      [
        'reset mails for one address',
        5,
        (service, n) => service.post('/auth/forgot-password', ADA, from(`192.0.2.${n}`)),
      ],
      [
        'reset mails from one address',
        20,
        (service, n) => service.post('/auth/forgot-password', { email: `s${n}@example.com` }),
      ],
      [
        'reset tokens from one address',
        20,
        (service) => service.post('/auth/reset-password', { token: 'x', password: PASSWORD }),
      ],
    ]
    for (const [what, budget, attempt] of budgets)
      it(`allows ${budget} ${what}`, async () => {
        const service = await build(behindProxy)
        for (let n = 0; n < budget; n++) expect((await attempt(service, n)).status).not.to.equal(429)
        expect((await attempt(service, budget)).status).to.equal(429)
      })

    it('allows 60 refreshes of a session in a minute and leaves the cookie alone beyond', async () => {
      const service = await build(behindProxy)
      let { cookie } = await newcomer(service)
      for (let n = 0; n < 60; n++)
        cookie = cookieOf(await service.post('/auth/refresh', undefined, { cookie }))
      const reply = await service.post('/auth/refresh', undefined, { cookie })
      expect([reply.status, reply.cookies.length]).to.deep.equal([429, 0])
      service.clock.advance('1m')
      expect((await service.post('/auth/refresh', undefined, { cookie })).status).to.equal(200)
    })

    it('allows five wrong current passwords, and a reset opens the login again', async () => {
      const service = await build(behindProxy)
      const { bearer, email } = await newcomer(service)
      const change = (current: string) =>
        service.post('/auth/change-password', { current, next: 'another password' }, bearer)
      for (let n = 0; n < 5; n++) expect((await change('wrong password')).status).to.equal(401)
      expect((await change(PASSWORD)).status).to.equal(429)
      for (let n = 0; n < 11; n++)
        await service.post('/auth/login', { email, password: 'wrong password' }, from(`192.0.2.${n}`))
      const token = await resetTokenFor(service, email)
      await service.post(
        '/auth/reset-password',
        { token, password: 'brand new password' },
        from('192.0.2.77'),
      )
      const login = await service.post(
        '/auth/login',
        { email, password: 'brand new password' },
        from('192.0.2.77'),
      )
      expect(login.status).to.equal(200)
    })
  })
})
