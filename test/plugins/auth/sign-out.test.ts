import { expect } from 'chai'
import type { ConnectedPasswordProvider } from '@mortar/auth/basic'
import { onEachStore } from './support/on-each-store.ts'
import { ADA, settle, signedUp, type World } from './support/world.ts'

async function signOutAda(world: World): Promise<void> {
  const { authProvider } = world.app.services as { authProvider: ConnectedPasswordProvider }
  const [{ id }] = await world.storage.users()
  await authProvider.signOut(id as string)
}

onEachStore('signOut, after a change of role', (inWorld) => {
  it('ends every session and its access tokens immediately, and lets the user log in again', () =>
    inWorld({}, async (world) => {
      const clients = [await signedUp(world), world.client()]
      await clients[1]!.post('/auth/login', ADA)
      await signOutAda(world)
      for (const client of clients) {
        expect((await client.get('/private')).status).to.equal(401)
        expect((await client.post('/auth/refresh')).status).to.equal(401)
      }
      expect(await world.storage.sessions()).to.deep.equal([])
      expect((await world.client().post('/auth/login', ADA)).status).to.equal(200)
    }))

  for (const statement of ['update users', 'delete sessions'] as const)
    it(`leaves a session that begins before '${statement}' whole or ends all of it`, () =>
      inWorld({}, async (world) => {
        await signedUp(world)
        const late = world.client()
        await settle(world)
        world.storage.interruptions.meanwhile(statement, () => late.post('/auth/login', ADA))
        await signOutAda(world)
        const access = (await late.get('/private')).status
        expect((await late.post('/auth/refresh')).status).to.equal(access)
      }))

  it('lets no login through whose user was read before it', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      const late = world.client()
      await settle(world)
      world.storage.interruptions.meanwhile('insert sessions', () => signOutAda(world))
      expect((await late.post('/auth/login', ADA)).status).to.equal(401)
      expect(await world.storage.sessions()).to.deep.equal([])
    }))

  it('ends the sessions that a change of the password begins in between', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const change = { current: ADA.password, next: 'another horse battery' }
      const changing = client.copy()
      await settle(world)
      world.storage.interruptions.meanwhile('select users', () =>
        changing.post('/auth/change-password', change),
      )
      await signOutAda(world)
      expect((await client.get('/private')).status).to.equal(401)
      expect((await changing.post('/auth/refresh')).status).to.equal(401)
      const login = { ...ADA, password: change.next }
      expect((await world.client().post('/auth/login', login)).status).to.equal(200)
    }))

  it('says nothing of a user who is not there', () =>
    inWorld({}, async (world) => {
      const { authProvider } = world.app.services as { authProvider: ConnectedPasswordProvider }
      await authProvider.signOut('nobody')
    }))
})
