import { expect } from 'chai'
import { onEachStore } from './support/on-each-store.ts'
import { ADA, resetTokenFor, signedUp } from './support/world.ts'

const NEXT = 'another horse battery'

onEachStore('POST /auth/reset-password', (inWorld) => {
  it('sets the password, ends every session and signs nobody in', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const answer = await world
        .client()
        .post('/auth/reset-password', { token: await resetTokenFor(world), password: NEXT })
      expect(answer.status, answer.text).to.equal(200)
      expect(answer.body).to.have.all.keys('message')
      expect(answer.setCookie).to.equal(undefined)
      expect((await client.get('/private')).status).to.equal(401)
      expect((await client.post('/auth/refresh')).status).to.equal(401)
      expect((await world.client().post('/auth/login', ADA)).status).to.equal(401)
      expect((await world.client().post('/auth/login', { ...ADA, password: NEXT })).status).to.equal(200)
    }))

  it('takes a token once, and makes the others of the user worthless', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      const [first, second] = [await resetTokenFor(world), await resetTokenFor(world)]
      const redeem = (token: string) => world.client().post('/auth/reset-password', { token, password: NEXT })
      expect((await redeem(first)).status).to.equal(200)
      const again = await redeem(first)
      expect([again.status, again.body.code]).to.deep.equal([401, 'invalid_reset_token'])
      expect((await redeem(second)).status).to.equal(401)
    }))

  it('takes a token for half an hour', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      const [early, late] = [await resetTokenFor(world), await resetTokenFor(world)]
      const redeem = (token: string) => world.client().post('/auth/reset-password', { token, password: NEXT })
      world.clock.advance(1800)
      expect((await redeem(early)).status).to.equal(401)
      world.clock.advance(-1)
      expect((await redeem(late)).status).to.equal(200)
    }))

  it('answers 422 to a weak password and does not use the token up', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      const token = await resetTokenFor(world)
      expect(
        (await world.client().post('/auth/reset-password', { token, password: 'short' })).status,
      ).to.equal(422)
      expect((await world.client().post('/auth/reset-password', { token, password: NEXT })).status).to.equal(
        200,
      )
    }))

  it('answers 401 to any other text, and to tokens of other kinds', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      for (const token of [
        'x',
        '%00',
        'A'.repeat(43),
        client.refreshToken,
        client.accessToken?.slice(0, 256),
      ])
        expect(
          (await world.client().post('/auth/reset-password', { token, password: NEXT })).status,
        ).to.equal(401)
    }))

  it('stores no token in the clear', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const token = await resetTokenFor(world)
      const rows = JSON.stringify([await world.storage.resetTokens(), await world.storage.sessions()])
      expect(rows).to.not.include(token)
      for (const part of client.refreshToken!.split('.')) expect(rows).to.not.include(part)
    }))
})
