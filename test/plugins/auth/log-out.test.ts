import { expect } from 'chai'
import { onEachStore } from './support/on-each-store.ts'
import { ADA, signedUp } from './support/world.ts'

const CLEARED = 'mortar_refresh=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax'

onEachStore('POST /auth/logout', (inWorld) => {
  it('deletes the session, clears the cookie and ends the access token immediately', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const stolen = client.copy()
      const answer = await client.post('/auth/logout')
      expect(answer.status, answer.text).to.equal(204)
      expect(answer.text).to.equal('')
      expect(answer.setCookie).to.equal(CLEARED)
      expect(await world.storage.sessions()).to.deep.equal([])
      expect((await stolen.get('/private')).status).to.equal(401)
      expect((await stolen.post('/auth/refresh')).status).to.equal(401)
      world.clock.advance(899)
      expect((await stolen.get('/private')).status).to.equal(401)
    }))

  it('ends an access token for as long as it would live', () =>
    inWorld({ auth: { accessTokenLifetime: '1h' } }, async (world) => {
      const client = await signedUp(world)
      const stolen = client.copy()
      await client.post('/auth/logout')
      world.clock.advance(3599)
      expect((await stolen.get('/private')).status).to.equal(401)
    }))

  it('answers the same without a cookie, with a foreign one and a second time', () =>
    inWorld({}, async ({ client }) => {
      for (const cookie of [
        undefined,
        'mortar_refresh=x',
        `mortar_refresh=${'a'.repeat(22)}.${'A'.repeat(43)}`,
      ]) {
        const answer = await client().post('/auth/logout', undefined, cookie ? { cookie } : {})
        expect([answer.status, answer.setCookie]).to.deep.equal([204, CLEARED])
      }
    }))

  it('ends the session of an access token that comes without a cookie', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      client.cookies.clear()
      expect((await client.post('/auth/logout')).status).to.equal(204)
      expect((await client.get('/private')).status).to.equal(401)
      expect(await world.storage.sessions()).to.deep.equal([])
    }))

  it('ends both sessions when the cookie and the access token are of different ones', () =>
    inWorld({}, async (world) => {
      const [first, second] = [await signedUp(world), world.client()]
      await second.post('/auth/login', ADA)
      const mixed = first.copy()
      mixed.accessToken = second.accessToken
      expect((await mixed.post('/auth/logout')).status).to.equal(204)
      for (const client of [first, second]) expect((await client.get('/private')).status).to.equal(401)
      expect(await world.storage.sessions()).to.deep.equal([])
    }))

  it('leaves other sessions alone', () =>
    inWorld({}, async (world) => {
      const first = await signedUp(world)
      const second = world.client()
      await second.post('/auth/login', ADA)
      await second.post('/auth/logout')
      expect((await first.get('/private')).status).to.equal(200)
      expect((await first.post('/auth/refresh')).status).to.equal(200)
    }))
})
