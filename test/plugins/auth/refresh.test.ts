import { expect } from 'chai'
import { onEachStore } from './support/on-each-store.ts'
import type { Client } from './support/client.ts'
import { ADA, SECRET, signedUp } from './support/world.ts'

const DAY = 86_400
const CHANGE = { current: ADA.password, next: 'another horse battery' }

onEachStore('POST /auth/refresh', (inWorld) => {
  it('gives a new access token and the next refresh cookie', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const [cookie, token] = [client.refreshToken, client.accessToken]
      const answer = await client.post('/auth/refresh')
      expect(answer.status, answer.text).to.equal(200)
      expect(answer.body).to.have.all.keys('accessToken', 'expiresIn')
      expect(answer.headers['cache-control']).to.equal('no-store')
      expect(client.refreshToken).to.not.equal(cookie)
      expect(client.accessToken).to.not.equal(token)
      expect((await client.get('/auth/me')).status).to.equal(200)
      expect(await world.storage.sessions()).to.have.length(1)
      expect(world.typesOf()).to.deep.equal(['auth.signup.succeeded', 'auth.token.refreshed'])
    }))

  it('is 401 without a cookie and with one that proves nothing, and clears only what was sent', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      const without = await world.client().post('/auth/refresh')
      expect([without.status, without.body.code, without.setCookie]).to.deep.equal([
        401,
        'invalid_session',
        undefined,
      ])
      const answer = await world.client().post('/auth/refresh', undefined, { cookie: 'mortar_refresh=x' })
      expect(answer.status).to.equal(401)
      expect(answer.setCookie).to.match(/^mortar_refresh=; Max-Age=0; Path=\//)
    }))

  for (const [name, replace] of [
    ['change-password', (tab: Client) => tab.post('/auth/change-password', CHANGE)],
    ['another login', (tab: Client) => tab.post('/auth/login', ADA)],
  ] as const)
    it(`overtaken by ${name} in another tab leaves that tab its newer cookie`, () =>
      inWorld({}, async (world) => {
        const tab = await signedUp(world)
        const other = tab.copy()
        expect((await replace(tab)).status).to.equal(200)
        const answer = await other.post('/auth/refresh')
        expect([answer.status, answer.setCookie]).to.deep.equal([401, undefined])
        expect((await tab.post('/auth/refresh')).status).to.equal(200)
      }))

  it('carries what has changed in the row into the next access token', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      await world.storage.changeUsers({ name: 'Ada Lovelace' })
      expect((await client.get('/auth/me')).body.name).to.equal('Ada')
      await client.post('/auth/refresh')
      expect((await client.get('/auth/me')).body.name).to.equal('Ada Lovelace')
    }))

  it('ends a session 30 days after its login, however often it is refreshed', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      world.clock.advance(20 * DAY)
      expect((await client.post('/auth/refresh')).setCookie).to.include(`Max-Age=${10 * DAY};`)
      world.clock.advance(10 * DAY - 1)
      expect((await client.post('/auth/refresh')).status).to.equal(200)
      world.clock.advance(1)
      const answer = await client.post('/auth/refresh')
      expect(answer.status).to.equal(401)
      expect(answer.setCookie).to.include('Max-Age=0')
      expect(await world.storage.sessions()).to.deep.equal([])
    }))

  it('is 401 once the account is gone', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      await world.storage.deleteUsers()
      expect((await client.post('/auth/refresh')).status).to.equal(401)
    }))

  it('survives a restart, and a secret that is replaced by putting a new one in front', () =>
    inWorld({ file: true }, async (world) => {
      const client = await signedUp(world)
      const secret = ['a newer secret, long enough to be one, of the tests', SECRET]
      await inWorld({ file: world.file, auth: { secret } }, async (later) => {
        const there = later.client()
        there.cookies.set('mortar_refresh', client.refreshToken!)
        there.accessToken = client.accessToken
        expect((await there.get('/private')).status).to.equal(200)
        expect((await there.post('/auth/refresh')).status).to.equal(200)
        expect((await there.post('/auth/refresh')).status).to.equal(200)
      })
    }))
})

onEachStore('a refresh token that was replaced', (inWorld) => {
  const present = 0
  const cases: [generations: number, seconds: number, status: number][] = [
    [present, 0, 200],
    [present, 60, 200],
    [1, 0, 200],
    [1, 9, 200],
    [1, 10, 200],
    [1, 11, 401],
    [1, 3600, 401],
    // The clock is set back meanwhile.
    [1, -3600, 401],
    [2, 0, 401],
    [2, 9, 401],
    [2, 11, 401],
    [3, 0, 401],
    [9, 0, 401],
  ]
  for (const [generations, seconds, status] of cases)
    it(`is ${status} ${generations} generations and ${seconds} seconds later`, () =>
      inWorld({}, async (world) => {
        const client = await signedUp(world)
        const old = client.copy()
        for (let generation = 0; generation < generations; generation++) await client.post('/auth/refresh')
        world.clock.advance(seconds)
        const answer = await old.post('/auth/refresh')
        expect(answer.status).to.equal(status)
        if (status === 200 && generations > 0) expect(old.refreshToken).to.equal(client.refreshToken)
        expect(await world.storage.sessions()).to.have.length(status === 200 ? 1 : 0)
      }))

  it('ends the session immediately: refresh tokens, and access tokens without a look-up', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const thief = client.copy()
      await client.post('/auth/refresh')
      await client.post('/auth/refresh')
      expect((await client.get('/private')).status).to.equal(200)
      const answer = await thief.post('/auth/refresh')
      expect(answer.status).to.equal(401)
      expect(answer.setCookie).to.include('Max-Age=0')
      expect((await client.get('/private')).status).to.equal(401)
      expect((await client.post('/auth/refresh')).status).to.equal(401)
      expect(world.typesOf().filter((type) => type === 'auth.token.reused')).to.have.length(1)
    }))

  it('leaves the other sessions of the user alone', () =>
    inWorld({}, async (world) => {
      const [first, second] = [await signedUp(world), world.client()]
      await second.post('/auth/login', ADA)
      const thief = first.copy()
      await first.post('/auth/refresh')
      await first.post('/auth/refresh')
      await thief.post('/auth/refresh')
      expect((await second.post('/auth/refresh')).status).to.equal(200)
    }))

  it('is theft immediately without a grace time', () =>
    inWorld({ auth: { refreshGrace: 0 } }, async (world) => {
      const client = await signedUp(world)
      const old = client.copy()
      await client.post('/auth/refresh')
      world.clock.advance(0.001)
      expect((await old.post('/auth/refresh')).status).to.equal(401)
    }))
})

onEachStore('the refresh cookie', (inWorld) => {
  const refused: Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
  ]
  const accepted: Record<string, string>[] = [
    {},
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
    { origin: 'http://shop.test:8080', host: 'shop.test:8080' },
    { 'sec-fetch-site': 'cross-site', origin: 'https://app.example.com' },
    { origin: 'https://www.example.com' },
  ]
  const options = {
    brick: { trustedOrigins: ['https://app.example.com'] },
    app: { appUrl: 'https://www.example.com' },
  }

  for (const headers of refused)
    it(`does nothing for ${JSON.stringify(headers)}`, () =>
      inWorld({ ...options, auth: { secureCookie: false } }, async (world) => {
        const client = await signedUp(world)
        for (const path of ['refresh', 'logout', 'change-password']) {
          const body =
            path === 'change-password' ? { current: ADA.password, next: 'another horse' } : undefined
          const answer = await client.post(`/auth/${path}`, body, headers)
          expect(answer.status, path).to.equal(403)
          expect(answer.body.code).to.equal('cross_site_request')
          expect(answer.setCookie).to.equal(undefined)
        }
        expect(world.typesOf().filter((type) => type === 'auth.csrf.refused')).to.have.length(3)
        expect((await client.post('/auth/refresh')).status).to.equal(200)
      }))
  for (const headers of accepted)
    it(`works for ${JSON.stringify(headers)}`, () =>
      inWorld({ ...options, auth: { secureCookie: false } }, async (world) => {
        const client = await signedUp(world)
        expect((await client.post('/auth/refresh', undefined, headers)).status).to.equal(200)
      }))

  it('is not sent by a page in plain http to an application that a trusted proxy reports as https', () => {
    const given = { auth: { secureCookie: false }, app: { trustProxy: ['127.0.0.1'] } }
    return inWorld(given, async (world) => {
      const client = await signedUp(world)
      const statusOf = async (scheme: string) => {
        const headers = { host: 'shop.test', origin: `${scheme}://shop.test`, 'x-forwarded-proto': 'https' }
        return (await client.post('/auth/refresh', undefined, headers)).status
      }
      expect([await statusOf('http'), await statusOf('https')]).to.deep.equal([403, 200])
    })
  })

  it('is Secure with the prefix __Host- where the application is https, and in production', async () => {
    const worlds = [
      { app: { appUrl: 'https://app.example.com' } },
      { app: { environment: 'production' as const, appUrl: 'https://a.example' }, auth: { cost: {} } },
    ]
    for (const each of worlds)
      await inWorld(each, async ({ client }) => {
        const { setCookie } = await client().post('/auth/signup', ADA)
        expect(setCookie).to.match(
          /^__Host-mortar_refresh=[^;]+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
        )
      })
  })
})
