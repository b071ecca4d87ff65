import { expect } from 'chai'
import type { ConnectedPasswordProvider } from '@mortar/auth/basic'
import { failureOf } from './support/failure-of.ts'
import { onEachStore } from './support/on-each-store.ts'
import { ADA, PASSWORD, signedUp, type World } from './support/world.ts'

const providerOf = ({ app }: World) =>
  (app.services as { authProvider: ConnectedPasswordProvider }).authProvider

onEachStore('verifyPassword', (inWorld) => {
  it('tells a right password from a wrong one, and knows no unknown and no disabled user', () =>
    inWorld({}, async (world) => {
      const { verifyPassword, disable, createUser } = providerOf(world)
      const user = await createUser(ADA)
      expect(await verifyPassword(user, PASSWORD)).to.equal(true)
      expect(await verifyPassword(user, 'wrong horse')).to.equal(false)
      expect(await verifyPassword({ id: 'nobody' }, PASSWORD)).to.equal(false)
      await disable(user.id)
      expect(await verifyPassword(user, PASSWORD)).to.equal(false)
    }))

  it('counts failures with those of change-password, and forgets them with a success', () =>
    inWorld({ limited: true }, async (world) => {
      const client = await signedUp(world)
      const { verifyPassword } = providerOf(world)
      const { id } = (await client.get('/auth/me')).body
      for (let count = 0; count < 4; count++)
        expect(await verifyPassword({ id }, 'wrong horse')).to.equal(false)
      expect(await verifyPassword({ id }, PASSWORD)).to.equal(true)
      for (let count = 0; count < 5; count++)
        expect(await verifyPassword({ id }, 'wrong horse')).to.equal(false)
      const error = await failureOf(() => verifyPassword({ id }, PASSWORD))
      expect((error as { status?: number }).status).to.equal(429)
      const change = { current: PASSWORD, next: 'another horse battery' }
      expect((await client.post('/auth/change-password', change)).status).to.equal(429)
    }))
})
