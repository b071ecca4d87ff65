import { expect } from 'chai'
import { throughBothAdapters } from '../../../support/adapters.ts'
import { newcomer, serviceBuilder, PASSWORD, type ServiceOptions } from './service.ts'

const ADA = { name: 'Ada', email: 'ada@example.com', password: PASSWORD }

describe('defences of the auth endpoints', () => {
  throughBothAdapters((open) => {
    const build = serviceBuilder(open)
    /** Sends from a client address that the trusted proxy forwards. */
    const from = (ip: string) => ({ 'x-forwarded-for': ip })
    const behindProxy: ServiceOptions = { limited: true, app: { trustProxy: ['127.0.0.1'] } }

    it('answers a wrong password and an unknown address with the same bytes, headers and their order', async () => {
      const service = await build(behindProxy)
      await newcomer(service)
      await service.post('/auth/signup', ADA)
      await service.source.query('update auth_users set password_hash = null where email like ?', ['user%'])
      const { email: without } = {
        email: (await service.source.query("select email from auth_users where email like 'user%'"))[0]
          .email as string,
      }
      const ask = (email: string, n: number) =>
        service.post('/auth/login', { email, password: 'wrong password' }, from(`192.0.2.${n}`))
      const replies = [await ask(ADA.email, 1), await ask('nobody@example.com', 2), await ask(without, 3)]
      const shapes = replies.map(({ status, rawHeaders, text }) => {
        const fixed = rawHeaders.map((each, index) =>
          /request-id|^date$/i.test(rawHeaders[index - 1] ?? '') ? '' : each,
        )
        return JSON.stringify([status, fixed, text])
      })
      expect(new Set(shapes).size, shapes.join('\n')).to.equal(1)
    })

    it('answers forgot-password with the same headers in the same order', async () => {
      const service = await build(behindProxy)
      await service.post('/auth/signup', ADA)
      const ask = async (email: string, n: number) => {
        const { rawHeaders, status, text } = await service.post(
          '/auth/forgot-password',
          { email },
          from(`192.0.2.${n}`),
        )
        const fixed = rawHeaders.map((each, index) =>
          /request-id|^date$/i.test(rawHeaders[index - 1] ?? '') ? '' : each,
        )
        return JSON.stringify([status, fixed, text])
      }
      expect(await ask(ADA.email, 1)).to.equal(await ask('nobody@example.com', 2))
    })

    const cookies: [string, ServiceOptions, RegExp][] = [
      [
        'in production',
        { app: { environment: 'production', appUrl: 'https://a.example' }, auth: { cost: {} } },
        /^__Host-mortar_refresh=.*; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
      ],
      ['under https', { app: { appUrl: 'https://a.example' } }, /^__Host-mortar_refresh=.*; Secure$/],
      [
        'in plain development',
        { app: { environment: 'development', appUrl: 'http://localhost:3000' } },
        /^mortar_refresh=.*; SameSite=Lax$/,
      ],
    ]
    for (const [where, options, form] of cookies)
      it(`sets the cookie ${where} as the contract says`, async () => {
        const service = await build(options)
        const { reply, cookie } = await newcomer(service)
        expect(reply.cookies[0]).to.match(form)
        expect(reply.cookies[0]).not.to.match(/domain/i)
        const next = await service.post('/auth/refresh', undefined, { cookie })
        expect(next.status).to.equal(200)
        expect(next.cookies[0]).to.match(form)
      })

    it('refuses the cookie without its prefix where it has one', async () => {
      const service = await build({ app: { appUrl: 'https://a.example' } })
      const { cookie } = await newcomer(service)
      const plain = cookie.replace('__Host-', '')
      expect((await service.post('/auth/refresh', undefined, { cookie: plain })).status).to.equal(401)
      const both = `${plain.replace(/=.*/, '=tossed')}; ${cookie}`
      expect((await service.post('/auth/refresh', undefined, { cookie: both })).status).to.equal(200)
    })

    it('guards by policy: 401, 403 with the name, 500 for a policy that throws, and only true passes', async () => {
      const service = await build()
      const { bearer } = await newcomer(service)
      const { bearer: eve } = await newcomer(service, { name: 'Eve' })
      const get = (path: string, headers = {}) => service.send('GET', path, { headers })
      expect((await get('/ada')).status).to.equal(401)
      expect((await get('/ada', bearer)).status).to.equal(200)
      const refused = await get('/ada', eve)
      expect([refused.status, refused.text.includes('ada')]).to.deep.equal([403, true])
      expect((await get('/truthy', bearer)).status).to.equal(403)
      expect((await get('/both', bearer)).status).to.equal(403)
      expect((await get('/broken', bearer)).status).to.equal(500)
      expect((await get('/open', bearer)).body.id).to.be.a('string')
      expect((await get('/open', { authorization: 'Bearer x' })).body).to.deep.equal({ id: null })
    })

    it('takes the header before the query, with no way back from an invalid one', async () => {
      const service = await build()
      const { token, bearer } = await newcomer(service)
      const get = async (path: string, headers = {}) => (await service.send('GET', path, { headers })).status
      expect(await get(`/private?access_token=${token}`)).to.equal(200)
      expect(await get(`/private?access_token=${token}`, { authorization: 'Bearer x' })).to.equal(401)
      expect(await get('/private?access_token=x', bearer)).to.equal(200)
      expect(await get(`/private?access_token=x&access_token=${token}`)).to.equal(401)
      expect(await get('/private', { authorization: `bearer ${token}` })).to.equal(200)
      expect(await get('/private', { authorization: `Bearer  ${token}, Bearer x` })).to.equal(401)
    })
  })
})
