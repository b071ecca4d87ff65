import { expect } from 'chai'
import { onEachStore } from './support/on-each-store.ts'
import { signedUp } from './support/world.ts'

onEachStore('GET /auth/me', (inWorld) => {
  it('answers with the user, whose raw record has no hash', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const answer = await client.get('/auth/me')
      expect(answer.status, answer.text).to.equal(200)
      expect(answer.body).to.have.all.keys('id', 'name', 'email', 'raw')
      expect(answer.body.raw).to.have.all.keys(
        'id',
        'name',
        'email',
        'email_verified_at',
        'created_at',
        'updated_at',
      )
      const at = '2030-01-01T12:00:00.000Z'
      expect(answer.body.raw).to.include({ created_at: at, updated_at: at, email_verified_at: null })
      expect(answer.text).to.not.match(/hash|argon|version/)
      expect(answer.headers['cache-control']).to.equal('no-store')
    }))

  it('is 401 without a token, with a wrong one and with one that expired', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const without = await world.client().get('/auth/me')
      expect(without.status).to.equal(401)
      expect(without.headers['www-authenticate']).to.equal('Bearer')
      expect(without.headers['cache-control']).to.equal('no-store')
      const wrong = await world.client().get('/auth/me', { authorization: 'Bearer x.y.z' })
      expect(wrong.headers['www-authenticate']).to.equal('Bearer error="invalid_token"')
      world.clock.advance(899)
      expect((await client.get('/auth/me')).status).to.equal(200)
      world.clock.advance(1)
      expect((await client.get('/auth/me')).status).to.equal(401)
    }))

  it('takes no refresh token for an access token', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      expect(
        (await client.get('/auth/me', { authorization: `Bearer ${client.refreshToken}` })).status,
      ).to.equal(401)
    }))
})
