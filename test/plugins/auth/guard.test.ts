import { expect } from 'chai'
import type { ConnectedPasswordProvider } from '@mortar/auth/basic'
import { createRouter } from 'mortar'
import { signedIn } from 'mortar/testing'
import { onEachStore } from './support/on-each-store.ts'
import { ADA, signedUp } from './support/world.ts'

onEachStore('guards with e-mail and password', (inWorld) => {
  it('are 401 without a valid credential and 403 by a policy', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      expect((await world.client().get('/private')).status).to.equal(401)
      expect((await client.get('/private')).status).to.equal(200)
      const refused = await client.get('/admin')
      expect([refused.status, refused.body.policy]).to.deep.equal([403, 'admin'])
      const { id } = (await client.get('/auth/me')).body
      expect((await client.get(`/users/${id}`)).status).to.equal(200)
      expect((await client.get('/users/somebody-else')).status).to.equal(403)
    }))

  it('need no database: a token is verified while it is away', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      world.storage.interruptions.failAlways()
      expect((await client.get('/private')).status).to.equal(200)
    }))

  it("see an application's own columns in the raw record, typed, but none that it hides", () =>
    inWorld({ ownColumns: true }, async (world) => {
      const client = await signedUp(world)
      const { raw } = (await client.get('/auth/me')).body
      expect(raw).to.include({ role: 'user', subscribed: true, settings: null })
      expect(raw).to.not.have.any.keys('totp_secret', 'password_hash', 'password_version', 'kept_session_id')
    }))

  for (const freshSession of [false, true])
    it(`know whether an address is proven${freshSession ? ', from the row' : ''}`, () =>
      inWorld({ auth: { freshSession } }, async (world) => {
        world.app.use(
          createRouter().get('/proven', { auth: true }, ({ user: { email, emailVerified } }) => ({
            email,
            emailVerified,
          })),
        )
        const client = await signedUp(world)
        expect((await client.get('/proven')).body).to.deep.equal({ email: ADA.email, emailVerified: false })
        await world.storage.changeUsers({ email_verified_at: new Date(world.clock.now()) })
        await client.post('/auth/refresh')
        expect((await client.get('/proven')).body).to.deep.equal({ email: ADA.email, emailVerified: true })
      }))

  it('learn of a new role with the next access token', () =>
    inWorld({ ownColumns: true }, async (world) => {
      const client = await signedUp(world)
      await world.storage.changeUsers({ role: 'admin', settings: { theme: 'dark' } })
      expect((await client.get('/admin')).status).to.equal(403)
      await client.post('/auth/refresh')
      expect((await client.get('/admin')).status).to.equal(200)
      expect((await client.get('/auth/me')).body.raw.settings).to.deep.equal({ theme: 'dark' })
    }))

  it('see it immediately with freshSession, also a deleted account', () =>
    inWorld({ ownColumns: true, auth: { freshSession: true } }, async (world) => {
      const client = await signedUp(world)
      expect((await client.get('/admin')).status).to.equal(403)
      await world.storage.changeUsers({ role: 'admin' })
      expect((await client.get('/admin')).status).to.equal(200)
      await world.storage.deleteUsers()
      expect((await client.get('/admin')).status).to.equal(401)
    }))

  it('refuse immediately after signOut of the user', () =>
    inWorld({}, async (world) => {
      const [first, second] = [await signedUp(world), world.client()]
      const { id } = (await second.post('/auth/login', ADA)).body.user
      const { authProvider } = world.app.services as { authProvider: ConnectedPasswordProvider }
      await authProvider.signOut(id)
      for (const client of [first, second]) {
        expect((await client.get('/private')).status).to.equal(401)
        expect((await client.post('/auth/refresh')).status).to.equal(401)
      }
      expect((await world.client().post('/auth/login', ADA)).status).to.equal(200)
    }))

  it('let the testing kit sign a user in without a password', () =>
    inWorld({}, async ({ app }) => {
      const client = await signedIn(app, { id: 'ada', name: 'Ada', raw: { role: 'admin' } })
      expect((await client.get('/private')).body).to.deep.equal({ id: 'ada' })
      expect((await client.get('/admin')).status).to.equal(200)
    }))

  it('do not let a token of another application or secret in', () =>
    inWorld({}, async (world) => {
      const { accessToken } = await signedUp(world)
      for (const auth of [{ secret: 'some other secret that is quite long enough' }, { issuer: 'shop' }])
        await inWorld({ auth }, async (other) => {
          const answer = await other.client().get('/private', { authorization: `Bearer ${accessToken}` })
          expect(answer.status).to.equal(401)
        })
    }))

  it('keep a damaged store from letting anybody in', () =>
    inWorld({ auth: { freshSession: true } }, async (world) => {
      const client = await signedUp(world)
      world.storage.interruptions.failAlways()
      const answer = await client.get('/private')
      expect(answer.status).to.equal(500)
    }))
})
