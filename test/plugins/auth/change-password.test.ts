import { expect } from 'chai'
import { onEachStore } from './support/on-each-store.ts'
import { ADA, PASSWORD, resetTokenFor, signedUp } from './support/world.ts'

const NEXT = 'another horse battery'
/** Session id of an access token. */
const sessionIn = (token = '.') =>
  (JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { sid: string }).sid
const COOKIE = /^mortar_refresh=[\w-]{22}\.[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/

onEachStore('POST /auth/change-password', (inWorld) => {
  const change = { current: PASSWORD, next: NEXT }

  it('ends every session and gives the caller a new one', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const other = world.client()
      await other.post('/auth/login', ADA)
      const before = client.copy()
      const answer = await client.post('/auth/change-password', change)
      expect(answer.status, answer.text).to.equal(200)
      expect(answer.body).to.have.all.keys('message', 'accessToken', 'expiresIn')
      expect(answer.setCookie).to.match(COOKIE)
      expect(sessionIn(client.accessToken)).to.not.equal(sessionIn(before.accessToken))
      expect((await before.get('/private')).status).to.equal(401)
      expect((await before.post('/auth/refresh')).status).to.equal(401)
      expect((await other.get('/private')).status).to.equal(401)
      expect((await other.post('/auth/refresh')).status).to.equal(401)
      expect((await client.get('/private')).status).to.equal(200)
      expect((await client.post('/auth/refresh')).status).to.equal(200)
      expect((await world.client().post('/auth/login', ADA)).status).to.equal(401)
      expect((await world.client().post('/auth/login', { ...ADA, password: NEXT })).status).to.equal(200)
    }))

  it('gives a client without a cookie a new session too', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      client.cookies.clear()
      const answer = await client.post('/auth/change-password', change)
      expect([answer.status, answer.setCookie !== undefined]).to.deep.equal([200, true])
      expect((await client.get('/private')).status).to.equal(200)
      expect((await client.post('/auth/refresh')).status).to.equal(200)
      expect(await world.storage.sessions()).to.have.length(1)
    }))

  it('leaves a thief with the cookie from before no grace time', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const thief = client.copy()
      await client.post('/auth/change-password', change)
      expect((await thief.post('/auth/refresh')).status).to.equal(401)
      expect((await client.post('/auth/refresh')).status).to.equal(200)
    }))

  it('makes reset tokens that are still out worthless', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const token = await resetTokenFor(world)
      await client.post('/auth/change-password', change)
      expect(
        (await world.client().post('/auth/reset-password', { token, password: PASSWORD })).status,
      ).to.equal(401)
    }))

  it('is 401 for a wrong current password, and changes nothing', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const answer = await client.post('/auth/change-password', { current: 'wrong horse', next: NEXT })
      expect(answer.status).to.equal(401)
      expect(answer.body.code).to.equal('invalid_credentials')
      expect((await world.client().post('/auth/login', ADA)).status).to.equal(200)
    }))

  it('is 401 without a token before the body is read, and 422 for a weak password', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      expect((await world.client().post('/auth/change-password', {})).status).to.equal(401)
      const answer = await client.post('/auth/change-password', { current: PASSWORD, next: 'short' })
      expect(answer.status).to.equal(422)
      expect(answer.body.errors[0]).to.include({ location: 'body', path: 'next' })
    }))
})
