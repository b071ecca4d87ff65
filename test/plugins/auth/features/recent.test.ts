import { expect } from 'chai'
import { createRouter, defineBrick } from 'mortar'
import { signedIn } from 'mortar/testing'
import { recent } from '@mortar/auth/recent'
import { onEachDatabase } from '../support/on-each-store.ts'
import { ADA, inWorld as onSqlite, PASSWORD, signedUp, type WorldOptions } from '../support/world.ts'
import { failureOf } from '../support/failure-of.ts'

const routes = createRouter().post('/danger', { auth: 'fresh' }, () => ({ done: true }))
const WITH_RECENT: WorldOptions = {
  auth: { features: [recent()] },
  bricks: [defineBrick({ name: 'danger', routes: [routes] })],
}
const claimsOf = (token = '.') =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>

onEachDatabase('recent()', (inWorld) => {
  it('lets a user pass for ten minutes after the login, whatever is refreshed, and again after a confirmation', () =>
    inWorld(WITH_RECENT, async (world) => {
      const client = await signedUp(world)
      world.clock.advance(600)
      expect((await client.post('/danger')).status).to.equal(200)
      world.clock.advance(1)
      await client.post('/auth/refresh')
      const stale = await client.post('/danger')
      expect([stale.status, stale.body.code, stale.body.maxAge]).to.deep.equal([
        403,
        'reauthentication_required',
        600,
      ])
      const answer = await client.post('/auth/confirm', { password: PASSWORD })
      expect(answer.status, answer.text).to.equal(200)
      expect(answer.body).to.have.all.keys('accessToken', 'expiresIn')
      expect((await client.post('/danger')).status).to.equal(200)
      await client.post('/auth/refresh')
      expect((await client.post('/danger')).status).to.equal(200)
      world.clock.advance(-60)
      expect((await client.post('/danger')).status).to.equal(200)
      // A clock that was far ahead does not make a proof last longer.
      world.clock.advance(-1)
      await client.post('/auth/refresh')
      expect((await client.post('/danger')).status).to.equal(403)
    }))

  it('continues under a new session id, and ends the old one', () =>
    inWorld(WITH_RECENT, async (world) => {
      const client = await signedUp(world)
      const before = client.copy()
      await client.post('/auth/confirm', { password: PASSWORD })
      expect(claimsOf(client.accessToken)['sid']).to.not.equal(claimsOf(before.accessToken)['sid'])
      expect((await before.get('/private')).status).to.equal(401)
      expect((await before.post('/auth/refresh')).status).to.equal(401)
      expect(await world.storage.sessions()).to.have.length(1)
      expect(world.typesOf()).to.include('auth.confirmed')
    }))

  it('lets one of 32 concurrent confirmations win', () =>
    inWorld(WITH_RECENT, async (world) => {
      const client = await signedUp(world)
      const tries = Array.from({ length: 32 }, () => client.copy())
      const answers = await Promise.all(
        tries.map((each) => each.post('/auth/confirm', { password: PASSWORD })),
      )
      const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
      expect(statuses).to.deep.equal([200, ...Array.from({ length: 31 }, () => 401)])
      expect(await world.storage.sessions()).to.have.length(1)
      const winner = tries[answers.findIndex(({ status }) => status === 200)]!
      expect((await winner.get('/private')).status).to.equal(200)
    }))

  it('replaces the oldest of as many sessions as maxSessions allows, and ends no other one', () =>
    inWorld({ ...WITH_RECENT, auth: { ...WITH_RECENT.auth, maxSessions: 2 } }, async (world) => {
      const [oldest, newest] = [await signedUp(world), world.client()]
      world.clock.advance(1)
      await newest.post('/auth/login', ADA)
      for (const client of [oldest, newest, oldest]) {
        world.clock.advance(1)
        const answer = await client.post('/auth/confirm', { password: PASSWORD })
        expect(answer.status, answer.text).to.equal(200)
      }
      for (const client of [oldest, newest]) expect((await client.get('/private')).status).to.equal(200)
      expect(await world.storage.sessions()).to.have.length(2)
    }))
})

describe('recent()', () => {
  it('refuses a wrong password, counts it with those of change-password, and changes nothing', () =>
    onSqlite({ ...WITH_RECENT, limited: true }, async (world) => {
      const client = await signedUp(world)
      for (let count = 0; count < 5; count++) {
        const answer = await client.post('/auth/confirm', { password: 'wrong horse' })
        expect([answer.status, answer.body.code]).to.deep.equal([401, 'invalid_credentials'])
      }
      expect((await client.post('/auth/confirm', { password: PASSWORD })).status).to.equal(429)
      expect((await client.post('/auth/change-password', { current: PASSWORD, next: 'x' })).status).to.equal(
        422,
      )
      expect(
        (await client.post('/auth/change-password', { current: PASSWORD, next: 'another horse battery' }))
          .status,
      ).to.equal(429)
      expect((await client.get('/private')).status).to.equal(200)
      expect(world.typesOf().filter((type) => type.startsWith('auth.confirm'))).to.deep.equal([
        ...Array.from({ length: 5 }, () => 'auth.confirm.failed'),
        'auth.confirm.limited',
      ])
    }))

  it('clears the failures before a right confirmation', () =>
    onSqlite({ ...WITH_RECENT, limited: true }, async (world) => {
      const client = await signedUp(world)
      const confirm = async (password: string) => (await client.post('/auth/confirm', { password })).status
      for (let round = 0; round < 3; round++) {
        for (let count = 0; count < 4; count++) expect(await confirm('wrong horse')).to.equal(401)
        expect(await confirm(PASSWORD)).to.equal(200)
      }
    }))

  it('needs a signed-in user, and no page of another origin', () =>
    onSqlite(WITH_RECENT, async (world) => {
      expect((await world.client().post('/auth/confirm', { password: PASSWORD })).status).to.equal(401)
      const client = await signedUp(world)
      const answer = await client.post(
        '/auth/confirm',
        { password: PASSWORD },
        { 'sec-fetch-site': 'cross-site' },
      )
      expect([answer.status, answer.body.code]).to.deep.equal([403, 'cross_site_request'])
    }))

  it('counts a token from before the claim as old', () =>
    onSqlite(WITH_RECENT, async (world) => {
      const { body } = await (await signedUp(world)).get('/auth/me')
      const user = { id: body.id, raw: body.raw }
      const fresh = await signedIn(world.app, user)
      expect((await fresh.post('/danger')).status).to.equal(200)
      const old = await signedIn(world.app, { ...user, session: { id: 'session', methods: [] } })
      expect((await old.get('/private')).status).to.equal(200)
      expect((await old.post('/danger')).status).to.equal(403)
    }))

  it('leaves both sessions valid or one, wherever the process ends', () =>
    onSqlite(WITH_RECENT, async (world) => {
      for (let statement = 1; ; statement++) {
        await world.storage.deleteUsers()
        const client = await signedUp(world)
        const before = client.copy()
        const fault = world.storage.interruptions.failFrom(statement)
        const { status } = await client.post('/auth/confirm', { password: PASSWORD })
        fault.restore()
        if (!fault.reached()) break
        expect(status, String(statement)).to.be.above(499)
        expect((await before.post('/auth/refresh')).status, String(statement)).to.be.oneOf([200, 401])
        expect((await world.client().post('/auth/login', ADA)).status).to.equal(200)
      }
    }))

  it('is refused without the feature, and under a policy of that name', async () => {
    const unknown = await failureOf(() => onSqlite({ bricks: WITH_RECENT.bricks! }, async () => {}))
    expect(unknown.code).to.equal('MORTAR_POLICY_UNKNOWN')
    const taken = { ...WITH_RECENT, brick: { policies: { fresh: () => true } } }
    expect((await failureOf(() => onSqlite(taken, async () => {}))).code).to.equal('MORTAR_AUTH_POLICY')
    expect((await failureOf(() => recent({ within: 'soon' }))).code).to.equal('MORTAR_AUTH_OPTION')
  })
})
