import { expect } from 'chai'
import { decode } from 'jsonwebtoken'
import { throughBothAdapters } from '../../../support/adapters.ts'
import {
  cookieOf,
  newcomer,
  openService,
  PASSWORD,
  resetTokenFor,
  type Service,
  type Reply,
} from './service.ts'

const MESSAGE = /./

describe('auth endpoints, as the contract has them', () => {
  throughBothAdapters((open) => {
    let service: Service
    beforeEach(async () => {
      service = await openService(open)
    })
    afterEach(() => service.leave())

    const problemIs = (reply: Reply, status: number) => {
      expect(reply.status, JSON.stringify(reply.body)).to.equal(status)
      expect(reply.headers['content-type']).to.match(/^application\/problem\+json/)
      expect(reply.body).to.include({ status })
      const isUniform = ['invalid_reset_token', 'too_many_requests'].includes(reply.body.code)
      const isLogin = reply.body.detail === 'The e-mail address or the password is wrong.'
      expect('instance' in reply.body, 'instance').to.equal(!isUniform && !isLogin)
      for (const key of ['type', 'title', 'detail', 'code'])
        expect(reply.body[key], key).to.be.a('string').and.match(MESSAGE)
    }

    it('answers a signup with 201, the three fields of the user, a token and two cookies', async () => {
      const { reply, id, email } = await newcomer(service)
      expect(reply.body).to.deep.equal({
        user: { id, name: 'Ada', email },
        accessToken: reply.body.accessToken,
        expiresIn: 900,
      })
      expect(id).to.match(/^[0-9a-f-]{36}$/)
      expect(reply.cookies).to.have.length(2)
      expect(reply.cookies[0]).to.match(
        /^mortar_refresh=[\w.-]{43,}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/,
      )
      expect(reply.cookies[1]).to.match(
        /^mortar_device=[\w-]{22}\.[\w-]{43}; Max-Age=34560000; Path=\/; HttpOnly; SameSite=Lax$/,
      )
      expect(reply.headers['cache-control']).to.equal('no-store')
      expect(reply.text).not.to.contain(cookieOf(reply).split('=')[1])
    })

    it('makes a JWT with the header and the claims of the contract', async () => {
      const { token, id } = await newcomer(service)
      const jwt = decode(token, { complete: true })!
      expect(jwt.header).to.include({ alg: 'HS256', typ: 'at+jwt' })
      const claims = jwt.payload as Record<string, number | string>
      expect(claims).to.include({ sub: id, iss: 'mortar', aud: 'mortar' })
      expect(Number(claims['exp']) - Number(claims['iat'])).to.equal(900)
      expect(claims['sid']).to.be.a('string')
      expect(JSON.stringify(claims)).not.to.match(/password|hash|argon/)
    })

    it('answers a login with 200 and the same body, and another session', async () => {
      const { email, id, cookie } = await newcomer(service)
      const reply = await service.post('/auth/login', { email, password: PASSWORD })
      expect(reply.status).to.equal(200)
      expect(Object.keys(reply.body)).to.deep.equal(['user', 'accessToken', 'expiresIn'])
      expect(reply.body.user).to.deep.equal({ id, name: 'Ada', email })
      expect(cookieOf(reply)).not.to.equal(cookie)
    })

    it('answers a refresh with 200, a token that works and a new cookie', async () => {
      const { cookie } = await newcomer(service)
      const reply = await service.post('/auth/refresh', undefined, { cookie })
      expect(reply.status).to.equal(200)
      expect(Object.keys(reply.body)).to.deep.equal(['accessToken', 'expiresIn'])
      expect(cookieOf(reply)).not.to.equal(cookie)
      const bearer = { authorization: `Bearer ${reply.body.accessToken}` }
      expect((await service.send('GET', '/auth/me', { headers: bearer })).status).to.equal(200)
    })

    it('answers a logout with 204, deletes the row, clears the cookie, and the same without one', async () => {
      const { cookie, bearer } = await newcomer(service)
      const reply = await service.post('/auth/logout', undefined, { cookie })
      expect([reply.status, reply.text]).to.deep.equal([204, ''])
      expect(reply.cookies[0]).to.equal('mortar_refresh=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax')
      expect(await service.source.query('select * from auth_refresh_tokens')).to.deep.equal([])
      expect((await service.post('/auth/refresh', undefined, { cookie })).status).to.equal(401)
      expect((await service.send('GET', '/auth/me', { headers: bearer })).status).to.equal(401)
      const without = await service.post('/auth/logout')
      expect([without.status, without.text]).to.deep.equal([204, ''])
      expect(without.cookies).to.deep.equal(reply.cookies)
    })

    it('answers me with id, name, email and raw without the hash', async () => {
      const { id, email, bearer } = await newcomer(service)
      const reply = await service.send('GET', '/auth/me', { headers: bearer })
      expect(reply.status).to.equal(200)
      expect(Object.keys(reply.body).toSorted()).to.deep.equal(['email', 'id', 'name', 'raw'])
      expect(reply.body).to.include({ id, email, name: 'Ada' })
      expect(reply.body.raw).to.include({ id, email, name: 'Ada', email_verified_at: null })
      expect(reply.text).not.to.match(/password|hash|argon/i)
    })

    it('answers change-password with 200, ends every other session and rotates this one', async () => {
      const { email, cookie, bearer } = await newcomer(service)
      const other = await service.post('/auth/login', { email, password: PASSWORD })
      const reply = await service.post(
        '/auth/change-password',
        { current: PASSWORD, next: 'another password' },
        { ...bearer, cookie },
      )
      expect(reply.status).to.equal(200)
      expect(Object.keys(reply.body)).to.deep.equal(['message', 'accessToken', 'expiresIn'])
      expect(cookieOf(reply))
        .to.match(/^mortar_refresh=./)
        .and.not.equal(cookie)
      const refreshWith = async (each: string) =>
        (await service.post('/auth/refresh', undefined, { cookie: each })).status
      expect(await refreshWith(cookieOf(other))).to.equal(401)
      expect(await refreshWith(cookie)).to.equal(401)
      expect(await refreshWith(cookieOf(reply))).to.equal(200)
      const others = { authorization: `Bearer ${other.body.accessToken}` }
      expect((await service.send('GET', '/auth/me', { headers: others })).status).to.equal(401)
      expect((await service.send('GET', '/auth/me', { headers: bearer })).status).to.equal(401)
      const own = { authorization: `Bearer ${reply.body.accessToken}` }
      expect((await service.send('GET', '/auth/me', { headers: own })).status).to.equal(200)
      expect((await service.post('/auth/login', { email, password: PASSWORD })).status).to.equal(401)
      expect((await service.post('/auth/login', { email, password: 'another password' })).status).to.equal(
        200,
      )
    })

    it('gives the session of change-password a new cookie when the old one was not sent along', async () => {
      const { cookie, bearer } = await newcomer(service)
      const body = { current: PASSWORD, next: 'another password' }
      const reply = await service.post('/auth/change-password', body, bearer)
      expect(reply.status).to.equal(200)
      const refreshWith = async (each: string) =>
        (await service.post('/auth/refresh', undefined, { cookie: each })).status
      expect(await refreshWith(cookie)).to.equal(401)
      expect(await refreshWith(cookieOf(reply))).to.equal(200)
    })

    it('answers forgot-password with the same bytes for every address', async () => {
      const { email } = await newcomer(service)
      const known = await service.post('/auth/forgot-password', { email })
      const unknown = await service.post('/auth/forgot-password', { email: 'nobody@example.com' })
      expect(known.status).to.equal(200)
      expect(Object.keys(known.body)).to.deep.equal(['message'])
      expect(unknown.text).to.equal(known.text)
    })

    it('answers reset-password with 200, ends every session and signs nobody in', async () => {
      const { email, cookie, bearer } = await newcomer(service)
      const token = await resetTokenFor(service, email)
      expect(Buffer.from(token, 'base64url')).to.have.length(32)
      const reply = await service.post('/auth/reset-password', { token, password: 'brand new password' })
      expect(reply.status).to.equal(200)
      expect(Object.keys(reply.body)).to.deep.equal(['message'])
      expect(reply.cookies).to.deep.equal([])
      expect((await service.post('/auth/refresh', undefined, { cookie })).status).to.equal(401)
      expect((await service.send('GET', '/private', { headers: bearer })).status).to.equal(401)
      expect((await service.post('/auth/login', { email, password: 'brand new password' })).status).to.equal(
        200,
      )
    })

    it('refuses a taken address, a wrong password and an unknown address as the contract says', async () => {
      const { email } = await newcomer(service)
      problemIs(await service.post('/auth/signup', { name: 'B', email, password: PASSWORD }), 409)
      const wrong = await service.post('/auth/login', { email, password: 'wrong password' })
      const unknown = await service.post('/auth/login', {
        email: 'no@example.com',
        password: 'wrong password',
      })
      problemIs(wrong, 401)
      problemIs(unknown, 401)
      expect(wrong.headers['www-authenticate']).to.equal('Bearer')
    })

    it('refuses used, expired, unknown and malformed reset tokens alike, and keeps one after a 422', async () => {
      const { email } = await newcomer(service)
      const token = await resetTokenFor(service, email)
      const redeem = (each: unknown, password: unknown = 'brand new password') =>
        service.post('/auth/reset-password', { token: each, password })
      problemIs(await redeem(token, 'short'), 422)
      expect((await redeem(token)).status).to.equal(200)
      const used = await redeem(token)
      problemIs(used, 401)
      const late = await resetTokenFor(service, email)
      service.clock.advance('30m')
      const texts = [used, await redeem(late), await redeem('A'.repeat(43)), await redeem('x')]
      for (const each of texts) {
        problemIs(each, 401)
        expect({ ...each.body, instance: '' }).to.deep.equal({ ...used.body, instance: '' })
      }
    })

    it('keeps earlier reset tokens valid, and none after one was redeemed', async () => {
      const { email } = await newcomer(service)
      const tokens: string[] = []
      for (let n = 0; n < 4; n++) {
        tokens.push(await resetTokenFor(service, email))
        service.clock.advance('1s')
      }
      const redeem = async (token: string) =>
        (await service.post('/auth/reset-password', { token, password: 'brand new password' })).status
      expect(await redeem(tokens[0]!)).to.equal(200)
      expect(await redeem(tokens[1]!)).to.equal(401)
      expect(await redeem(tokens[2]!)).to.equal(401)
      expect(await redeem(tokens[3]!)).to.equal(401)
    })

    const refreshCases: [string, (cookie: string) => Record<string, string>][] = [
      ['no cookie', () => ({})],
      ['an empty cookie', () => ({ cookie: 'mortar_refresh=' })],
      ['a random cookie', () => ({ cookie: `mortar_refresh=${'A'.repeat(66)}` })],
      ['a cookie with a changed character', (cookie) => ({ cookie: cookie.replace(/.$/, '~') })],
      ['the token in another cookie', (cookie) => ({ cookie: cookie.replace('mortar_refresh', 'refresh') })],
      ['the token as a bearer', (cookie) => ({ authorization: `Bearer ${cookie.split('=')[1]}` })],
      ['two different cookies of the name', (cookie) => ({ cookie: `${cookie}; mortar_refresh=other` })],
      ['a cookie of 7 KB', () => ({ cookie: `mortar_refresh=${'A'.repeat(7000)}` })],
    ]
    for (const [what, headersOf] of refreshCases)
      it(`refuses a refresh with ${what}`, async () => {
        const { cookie } = await newcomer(service)
        problemIs(await service.post('/auth/refresh', undefined, headersOf(cookie)), 401)
        expect((await service.post('/auth/refresh', undefined, { cookie })).status).to.equal(200)
      })

    it('refuses the access token in place of a refresh cookie and the other way about', async () => {
      const { token, cookie } = await newcomer(service)
      expect(
        (await service.post('/auth/refresh', undefined, { cookie: `mortar_refresh=${token}` })).status,
      ).to.equal(401)
      const bearer = { authorization: `Bearer ${cookie.split('=')[1]}` }
      expect((await service.send('GET', '/auth/me', { headers: bearer })).status).to.equal(401)
    })

    const meCases: [string, Record<string, string>, string][] = [
      ['no token', {}, 'Bearer'],
      ['a wrong token', { authorization: 'Bearer nonsense' }, 'Bearer error="invalid_token"'],
      ['another scheme', { authorization: 'Basic YTpi' }, 'Bearer'],
    ]
    for (const [what, headers, challenge] of meCases)
      it(`challenges ${what} rightly`, async () => {
        const reply = await service.send('GET', '/auth/me', { headers })
        problemIs(reply, 401)
        expect(reply.headers['www-authenticate']).to.contain(challenge)
        if (challenge === 'Bearer') expect(reply.headers['www-authenticate']).not.to.contain('error')
        expect(reply.headers['cache-control']).to.equal('no-store')
      })

    it('lets an access token live 15 minutes and a session 30 days, however often it refreshes', async () => {
      const { bearer, cookie } = await newcomer(service)
      service.clock.advance(899)
      expect((await service.send('GET', '/auth/me', { headers: bearer })).status).to.equal(200)
      service.clock.advance(1)
      expect((await service.send('GET', '/auth/me', { headers: bearer })).status).to.equal(401)
      service.clock.advance('29d')
      const later = await service.post('/auth/refresh', undefined, { cookie })
      expect(later.status).to.equal(200)
      service.clock.advance('1d')
      expect((await service.post('/auth/refresh', undefined, { cookie: cookieOf(later) })).status).to.equal(
        401,
      )
    })

    it('gives the immediate predecessor the same successor for ten seconds, and no older one', async () => {
      const { cookie, bearer } = await newcomer(service)
      const refresh = (each: string) => service.post('/auth/refresh', undefined, { cookie: each })
      const first = await refresh(cookie)
      service.clock.advance(10)
      const again = await refresh(cookie)
      expect([again.status, cookieOf(again)]).to.deep.equal([200, cookieOf(first)])
      const second = await refresh(cookieOf(first))
      const stolen = await refresh(cookie)
      expect(stolen.status).to.equal(401)
      expect(stolen.cookies[0]).to.match(/^mortar_refresh=; Max-Age=0/)
      expect((await refresh(cookieOf(second))).status).to.equal(401)
      expect((await service.send('GET', '/auth/me', { headers: bearer })).status).to.equal(401)
    })

    it('takes the predecessor after eleven seconds for theft', async () => {
      const { cookie } = await newcomer(service)
      const first = await service.post('/auth/refresh', undefined, { cookie })
      service.clock.advance(11)
      expect((await service.post('/auth/refresh', undefined, { cookie })).status).to.equal(401)
      expect((await service.post('/auth/refresh', undefined, { cookie: cookieOf(first) })).status).to.equal(
        401,
      )
    })

    it('refuses a wrong current password and a weak next one, and changes nothing', async () => {
      const { email, bearer } = await newcomer(service)
      const change = (body: unknown) => service.post('/auth/change-password', body, bearer)
      problemIs(await change({ current: 'wrong password', next: 'another password' }), 401)
      problemIs(await change({ current: PASSWORD, next: 'short' }), 422)
      problemIs(await change({ current: PASSWORD }), 422)
      problemIs(await service.post('/auth/change-password', { current: PASSWORD, next: 'short' }), 401)
      expect((await service.post('/auth/login', { email, password: PASSWORD })).status).to.equal(200)
    })
  })
})
