import { expect } from 'chai'
import type { ConnectedPasswordProvider } from '@mortar/auth/basic'
import { onEachStore } from './support/on-each-store.ts'
import { ADA, signedUp, type World } from './support/world.ts'

const create = ({ app }: World, user: object) =>
  (app.services as { authProvider: ConnectedPasswordProvider }).authProvider.createUser(user as typeof ADA)
const failure = (world: World, user: object) =>
  create(world, user).then(
    () => expect.fail('The user was created.'),
    (error: { status: number; code: string; errors: unknown }) => error,
  )

onEachStore('createUser, without HTTP', (inWorld) => {
  it('makes an account that can log in, in canonical form, without a session and without counting', () =>
    inWorld({ limited: true }, async (world) => {
      for (let count = 0; count < 25; count++)
        await create(world, { ...ADA, email: `user${count}@example.com` })
      const user = await create(world, { ...ADA, name: ' Ada ', email: ' ADA@Example.com' })
      expect(user).to.deep.include({ name: 'Ada', email: 'ada@example.com', emailVerified: false })
      expect(user.raw).to.not.have.property('password_hash')
      expect(await world.storage.sessions()).to.deep.equal([])
      const answer = await world.client().post('/auth/login', ADA)
      expect([answer.status, answer.body.user.id]).to.deep.equal([200, user.id])
    }))

  it('refuses what signup refuses, with the same issues', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      for (const user of [
        { ...ADA, email: 'nowhere' },
        { ...ADA, email: 'bob@example.com', password: 'short' },
        { ...ADA, email: 'bob@example.com', password: 'password1' },
        { ...ADA, email: 'bob@example.com', name: 'a\nb' },
        { name: 7, password: '' },
        { ...ADA, name: null, email: null },
        ADA,
      ]) {
        const { status, body } = await world.client().post('/auth/signup', user)
        const error = await failure(world, user)
        expect([error.status, error.code]).to.deep.equal([status, body.code])
        const shown = (list: unknown) => JSON.parse(JSON.stringify(list ?? null)) as unknown
        expect(shown(error.errors), JSON.stringify(user)).to.deep.equal(shown(body.errors))
      }
    }))
})
