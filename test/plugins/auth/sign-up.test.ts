import { expect } from 'chai'
import { onEachStore } from './support/on-each-store.ts'
import { ADA, PASSWORD, signedUp } from './support/world.ts'

const COOKIE = /^mortar_refresh=[\w-]{22}\.[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/

onEachStore('POST /auth/signup', (inWorld) => {
  it('answers with the user, an access token and a refresh cookie', () =>
    inWorld({}, async ({ client, typesOf }) => {
      const answer = await client().post('/auth/signup', ADA)
      expect(answer.status, answer.text).to.equal(201)
      expect(answer.body).to.have.all.keys('user', 'accessToken', 'expiresIn')
      expect(answer.body.user).to.have.all.keys('id', 'name', 'email')
      expect(answer.body.user).to.include({ name: 'Ada', email: 'ada@example.com' })
      expect(answer.body.expiresIn).to.equal(900)
      expect(answer.setCookie).to.match(COOKIE)
      expect(typesOf()).to.deep.equal(['auth.signup.succeeded'])
    }))

  it('refuses an address that is taken, in whatever spelling', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      const answer = await world.client().post('/auth/signup', { ...ADA, email: ' ADA@Example.COM ' })
      expect(answer.status).to.equal(409)
      expect(answer.body).to.include({ code: 'email_taken', status: 409 })
      expect(answer.setCookie).to.equal(undefined)
    }))

  it('ignores what nobody may choose for himself', () =>
    inWorld({}, async ({ client, storage }) => {
      const extra = {
        id: 'mine',
        role: 'admin',
        email_verified_at: '2020-01-01',
        password_hash: 'x',
        password_version: 9,
      }
      const answer = await client().post('/auth/signup', { ...ADA, ...extra })
      expect(answer.status).to.equal(201)
      const [row] = await storage.users()
      expect(row.id).to.match(/^[0-9a-f-]{36}$/)
      expect(row).to.include({ email_verified_at: null, password_version: 0 })
      expect(row.password_hash).to.match(/^\$argon2id\$/)
    }))

  const wrong: [string, unknown][] = [
    ['no body', undefined],
    ['a name that is missing', { email: ADA.email, password: PASSWORD }],
    ['a blank name', { ...ADA, name: '   ' }],
    ['a name with a control character', { ...ADA, name: 'A\u0000da' }],
    ['a name of more than 200 characters', { ...ADA, name: 'a'.repeat(201) }],
    ['an address without an @', { ...ADA, email: 'ada' }],
    ['a number as address', { ...ADA, email: 5 }],
    ['a password of seven characters', { ...ADA, password: 'sevench' }],
    ['a password of 257 characters', { ...ADA, password: 'a'.repeat(257) }],
    ['a number as password', { ...ADA, password: 1234567890 }],
    ['a list as password', { ...ADA, password: ['correct horse battery'] }],
  ]
  for (const [what, body] of wrong)
    it(`answers 422 to ${what}`, () =>
      inWorld({}, async ({ client }) => {
        const answer = await client().post('/auth/signup', body)
        expect(answer.status, answer.text).to.equal(422)
        expect(answer.body.errors[0]).to.include.all.keys('location', 'path', 'rule', 'message')
        expect(answer.headers['cache-control']).to.equal('no-store')
      }))

  it('answers 422 to U+0000 and to half of a surrogate pair in any string of any endpoint', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const strings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
        signup: { ...ADA, email: 'bob@example.com' },
        login: { email: ADA.email, password: PASSWORD },
        'change-password': { current: PASSWORD, next: 'another horse battery' },
        'forgot-password': { email: ADA.email },
        'reset-password': { token: 'x', password: PASSWORD },
      }
      for (const [endpoint, body] of Object.entries(strings))
        for (const key of Object.keys(body))
          for (const odd of ['\u0000', '\ud83d']) {
            const answer = await client.post(`/auth/${endpoint}`, { ...body, [key]: `${body[key]}${odd}` })
            expect(answer.status, `${endpoint} ${key}`).to.equal(422)
          }
      expect(await world.storage.users()).to.have.length(1)
      expect(world.mails).to.deep.equal([])
    }))

  it('ends the session that the browser had before', () =>
    inWorld({}, async (world) => {
      const client = world.client()
      await client.post('/auth/signup', ADA)
      const before = client.copy()
      expect((await client.post('/auth/signup', { ...ADA, email: 'eve@example.com' })).status).to.equal(201)
      expect((await before.get('/private')).status).to.equal(401)
      expect((await before.post('/auth/refresh')).status).to.equal(401)
      expect((await client.get('/private')).status).to.equal(200)
    }))

  it('signs nobody in when the password is reset while the account is being made', () =>
    inWorld({}, async (world) => {
      world.storage.interruptions.meanwhile('insert sessions', () =>
        world.storage.changeUsers({ password_version: 1 }),
      )
      const answer = await world.client().post('/auth/signup', ADA)
      expect([answer.status, answer.setCookie]).to.deep.equal([401, undefined])
      expect(answer.body.code).to.equal('invalid_credentials')
    }))

  it('refuses a password of the words of the address', () =>
    inWorld({}, async ({ client }) => {
      const body = { name: 'Ada', email: 'navy.hopper@example.com', password: 'hopper navy 1' }
      expect((await client().post('/auth/signup', body)).status).to.equal(422)
    }))

  it('takes a password of eight code points, and counts them, not units', () =>
    inWorld({}, async ({ client }) => {
      expect((await client().post('/auth/signup', { ...ADA, password: '🔑🐎🔋📎🌊🎲🧵' })).status).to.equal(
        422,
      )
      expect((await client().post('/auth/signup', { ...ADA, password: '🔑🐎🔋📎🌊🎲🧵🪐' })).status).to.equal(
        201,
      )
    }))
})
