import { expect } from 'chai'
import { onEachStore } from './support/on-each-store.ts'
import { ADA, PASSWORD, resetTokenFor, signedUp } from './support/world.ts'

const NEXT = 'another horse battery'
const COOKIE = /^mortar_refresh=[\w-]{22}\.[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/

onEachStore('POST /auth/change-password', (inWorld) => {
  const change = { current: PASSWORD, next: NEXT }

  it('ends every other session, and keeps and rotates this one', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const other = world.client()
      await other.post('/auth/login', ADA)
      const before = client.refreshToken
      const answer = await client.post('/auth/change-password', change)
      expect(answer.status, answer.text).to.equal(200)
      expect(answer.body).to.have.all.keys('message')
      expect(answer.setCookie).to.match(COOKIE)
      expect(client.refreshToken).to.not.equal(before)
      expect((await other.get('/private')).status).to.equal(401)
      expect((await other.post('/auth/refresh')).status).to.equal(401)
      expect((await client.get('/private')).status).to.equal(200)
      expect((await client.post('/auth/refresh')).status).to.equal(200)
      expect((await world.client().post('/auth/login', ADA)).status).to.equal(401)
      expect((await world.client().post('/auth/login', { ...ADA, password: NEXT })).status).to.equal(200)
    }))

  it('keeps a session without a cookie, and sets none', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const withCookie = client.copy()
      client.cookies.clear()
      const answer = await client.post('/auth/change-password', change)
      expect([answer.status, answer.setCookie]).to.deep.equal([200, undefined])
      expect((await withCookie.post('/auth/refresh')).status).to.equal(200)
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

  it('is 401 without a token before the body is looked at, and 422 for a weak password', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      expect((await world.client().post('/auth/change-password', {})).status).to.equal(401)
      const answer = await client.post('/auth/change-password', { current: PASSWORD, next: 'short' })
      expect(answer.status).to.equal(422)
      expect(answer.body.errors[0]).to.include({ location: 'body', path: 'next' })
    }))
})
