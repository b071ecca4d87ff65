import { expect } from 'chai'
import type { PasswordSession } from '../../../plugins/auth/basic/index.ts'
import { ADA, inWorld, signedUp, type World } from './support/world.ts'

/** Does something just before the first statement that begins so, as another request might. @returns whether it did. */
function meanwhile(world: World, statement: string, act: () => Promise<unknown>): () => boolean {
  const { source } = world
  const create = source.createQueryRunner.bind(source)
  let reached = false
  source.createQueryRunner = (mode) => {
    const runner = create(mode)
    const query = runner.query.bind(runner) as (...args: unknown[]) => Promise<unknown>
    runner.query = (async (sql: string, ...args: unknown[]) => {
      if (sql.startsWith(statement)) {
        reached = true
        source.createQueryRunner = create
        await act()
      }
      return query(sql, ...args)
    }) as typeof runner.query
    return runner
  }
  return () => reached
}

async function signOutAda(world: World): Promise<void> {
  const { authProvider } = world.app.services as { authProvider: PasswordSession }
  const [{ id }] = await world.source.query('select id from auth_users')
  await authProvider.signOut(id as string)
}

describe('signOut, after a change of role', () => {
  it('ends every session, its access tokens at once, and lets the user log in again', () =>
    inWorld({}, async (world) => {
      const clients = [await signedUp(world), world.client()]
      await clients[1]!.post('/auth/login', ADA)
      await signOutAda(world)
      for (const client of clients) {
        expect((await client.get('/private')).status).to.equal(401)
        expect((await client.post('/auth/refresh')).status).to.equal(401)
      }
      expect(await world.source.query('select id from auth_refresh_tokens')).to.deep.equal([])
      expect((await world.client().post('/auth/login', ADA)).status).to.equal(200)
    }))

  for (const statement of ['update "auth_users"', 'delete from "auth_refresh_tokens"'])
    it(`leaves a session that begins before ${statement} whole or ends all of it`, () =>
      inWorld({}, async (world) => {
        await signedUp(world)
        const late = world.client()
        const happened = meanwhile(world, statement, () => late.post('/auth/login', ADA))
        await signOutAda(world)
        expect(happened()).to.equal(true)
        const access = (await late.get('/private')).status
        expect((await late.post('/auth/refresh')).status).to.equal(access)
      }))

  it('lets no login through whose user was read before it', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      const late = world.client()
      const happened = meanwhile(world, 'insert into "auth_refresh_tokens"', () => signOutAda(world))
      expect((await late.post('/auth/login', ADA)).status).to.equal(401)
      expect(happened()).to.equal(true)
      expect(await world.source.query('select id from auth_refresh_tokens')).to.deep.equal([])
    }))

  it('survives a rehash and a new password that come in between', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const change = { current: ADA.password, next: 'another horse battery' }
      const changing = client.copy()
      const happened = meanwhile(world, 'update "auth_users"', () =>
        changing.post('/auth/change-password', change),
      )
      await signOutAda(world)
      expect(happened()).to.equal(true)
      expect((await client.get('/private')).status).to.equal(401)
      expect((await changing.post('/auth/refresh')).status).to.equal(401)
      const login = { ...ADA, password: change.next }
      expect((await world.client().post('/auth/login', login)).status).to.equal(200)
    }))

  it('says nothing of a user who is not there', () =>
    inWorld({}, async (world) => {
      const { authProvider } = world.app.services as { authProvider: PasswordSession }
      await authProvider.signOut('nobody')
    }))
})
