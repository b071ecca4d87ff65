import { expect } from 'chai'
import { account } from '@mortar/auth/account'
import { failureOf } from '../support/failure-of.ts'
import { onEachDatabase } from '../support/on-each-store.ts'
import { ADA, inWorld as onSqlite, PASSWORD, settle, signedUp, type World } from '../support/world.ts'
import {
  DAY,
  fillTables,
  provider,
  prune,
  restore,
  rowsOf,
  tokenIn,
  withAccount,
} from './support/account-scene.ts'

onEachDatabase('account()', (inWorld) => {
  it('closes an account, and takes it back by the link of its mail, once', () => {
    const { links, world: options } = withAccount()
    return inWorld(options, async (world) => {
      const client = await signedUp(world)
      const other = world.client()
      await other.post('/auth/login', ADA)
      const answer = await client.delete('/auth/account')
      expect(answer.status).to.equal(204)
      expect(client.refreshToken).to.equal(undefined)
      expect((await other.post('/auth/refresh')).status).to.equal(401)
      expect((await other.get('/private')).status).to.equal(401)
      const refused = await world.client().post('/auth/login', ADA)
      const unknown = await world.client().post('/auth/login', { ...ADA, email: 'nobody@example.com' })
      expect([refused.status, refused.text]).to.deep.equal([401, unknown.text])
      await settle(world)
      expect(links).to.have.length(1)
      const back = await Promise.all(Array.from({ length: 32 }, () => restore(world, links[0]!)))
      expect(back.filter(({ status }) => status === 200)).to.have.length(1)
      expect(back.filter(({ body }) => body.code === 'invalid_link')).to.have.length(31)
      expect((await world.client().post('/auth/login', ADA)).status).to.equal(200)
      world.clock.advance(15 * DAY)
      await prune(world)
      expect(await world.storage.users()).to.have.length(1)
      expect(await world.storage.rows('auth_deletions')).to.deep.equal([])
      expect(world.typesOf().filter((type) => type.startsWith('auth.deletion'))).to.have.members([
        'auth.deletion.requested',
        'auth.deletion.cancelled',
        ...Array.from({ length: 31 }, () => 'auth.deletion.cancel.failed'),
      ])
    })
  })

  it('deletes every row of the user when the grace is over, and nothing of another', () => {
    const { links, world: options, kit, tables } = withAccount({ grace: '7d' })
    return inWorld(options, async (world) => {
      const client = await signedUp(world)
      await client.post('/auth/forgot-password', { email: ADA.email })
      const eve = world.client()
      await eve.post('/auth/signup', { ...ADA, email: 'eve@example.com' })
      await settle(world)
      const users = await world.storage.users()
      const idOf = (email: string) => users.find((user) => user.email === email).id as string
      const [own, foreign] = [idOf(ADA.email), idOf('eve@example.com')]
      for (const id of [own, foreign]) await fillTables(world, kit, id)
      const before = await rowsOf(world, tables, own)
      for (const [table, count] of Object.entries(before))
        if (table !== 'auth_deletions') expect(count, table).to.be.above(0)
      const others = await rowsOf(world, tables, foreign)
      expect((await client.delete('/auth/account')).status).to.equal(204)
      world.clock.advance(7 * DAY - 1)
      await prune(world)
      expect((await rowsOf(world, tables, own))['auth_users']).to.equal(1)
      world.clock.advance(1)
      await prune(world)
      await settle(world)
      const after = await rowsOf(world, tables, own)
      expect(Object.entries(after).filter(([, count]) => count > 0)).to.deep.equal([])
      const kept = await rowsOf(world, tables, foreign)
      // Short-lived rows have expired by now.
      for (const table of ['auth_users', 'auth_totp', 'auth_recovery_codes', 'auth_accounts', 'auth_audit'])
        expect(kept[table], table).to.be.at.least(others[table]!)
      expect((await restore(world, links[0]!)).body.code).to.equal('invalid_link')
      const log = await world.storage.rows('auth_audit')
      const [gone] = log.filter(({ event }) => event === 'auth.user.deleted')
      expect([gone.user_id, gone.ip, JSON.parse(gone.data)]).to.deep.equal([null, null, { userId: own }])
      expect((await world.client().post('/auth/signup', ADA)).status).to.equal(201)
    })
  })

  it('lets one of 32 simultaneous deletions win', () => {
    const { links, world: options } = withAccount()
    return inWorld(options, async (world) => {
      const client = await signedUp(world)
      const answers = await Promise.all(
        Array.from({ length: 32 }, () => client.copy().delete('/auth/account')),
      )
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([
        204,
        ...Array.from({ length: 31 }, () => 401),
      ])
      await settle(world)
      expect(links).to.have.length(1)
      expect((await restore(world, links[0]!)).status).to.equal(200)
    })
  })

  it('leaves an account that an operator has enabled, or disabled again, to the operator', () => {
    const { links, world: options } = withAccount()
    return inWorld(options, async (world) => {
      const client = await signedUp(world)
      const [{ id }] = await world.storage.users()
      await client.delete('/auth/account')
      await settle(world)
      await provider(world).disable(id)
      expect((await restore(world, links[0]!)).body.code).to.equal('invalid_link')
      world.clock.advance(15 * DAY)
      await prune(world)
      expect(await world.storage.users()).to.have.length(1)
      await provider(world).enable(id)
      await client.post('/auth/login', ADA)
      await client.delete('/auth/account')
      await provider(world).enable(id)
      world.clock.advance(15 * DAY)
      await prune(world)
      expect((await world.client().post('/auth/login', ADA)).status).to.equal(200)
      await client.post('/auth/login', ADA)
      expect((await client.delete('/auth/account')).status).to.equal(204)
      expect((await restore(world, links[0]!)).body.code).to.equal('invalid_link')
      // What the operator has ended counts no more, and the user can begin again, with the whole time.
      await provider(world).enable(id)
      await hasWholeTime(world, client, links)
    })
  })

  it('gives the whole time to a request after one that could not close the account', () => {
    const { links, world: options } = withAccount()
    return inWorld(options, async (world) => {
      const client = await signedUp(world)
      world.storage.interruptions.reject('update users', 'A disk is full.', 1)
      expect((await client.delete('/auth/account')).status).to.equal(500)
      await hasWholeTime(world, client, links)
    })
  })

  it('exports the user, the sessions and the rows of features, without a secret', () => {
    const exportData = (userId: string) => ({ notes: [`of ${userId}`] })
    const { world: options, kit, tables } = withAccount({ exportData })
    return inWorld(options, async (world) => {
      const client = await signedUp(world)
      await client.post('/auth/forgot-password', { email: ADA.email })
      await settle(world)
      const [{ id, password_hash: hash }] = await world.storage.users()
      await fillTables(world, kit, id)
      const { status, body, text } = await client.get('/auth/account/export')
      expect(status).to.equal(200)
      expect(body.user).to.include({ id, name: ADA.name, email: ADA.email })
      expect(body.sessions).to.have.length(1)
      expect(body.features).to.have.all.keys(...tables)
      for (const table of tables)
        if (table !== 'auth_deletions') expect(body.features[table], table).to.not.deep.equal([])
      expect(body.features.auth_session_details[0]).to.include({ ip: '127.0.0.1' })
      expect(body.features.auth_accounts[0].expires_at).to.equal(null)
      expect(body.application).to.deep.equal({ notes: [`of ${id}`] })
      const hidden = await Promise.all(
        kit.tables.map(async ({ shape, records }) => {
          const [key] = shape.key
          const isHidden = (name: string) => name === key || Object.hasOwn(shape.texts ?? {}, name)
          const cells = (await records.find({ user_id: id })).flatMap(Object.entries)
          return cells.flatMap(([name, value]) =>
            isHidden(name) && !shape.shown?.includes(name) && value !== id ? [value] : [],
          )
        }),
      )
      const [{ family_hash: family, token_hash: token }] = await world.storage.sessions()
      const secrets = [hash, family, token, ...hidden.flat()].filter(Boolean)
      expect(secrets.length).to.be.above(7)
      for (const each of secrets) expect(text).to.not.include(each)
      expect(world.typesOf()).to.include('auth.export.succeeded')
    })
  })
})

describe('account()', () => {
  it('needs a recent proof, and a signed-in user', () => {
    const { world: options } = withAccount()
    return onSqlite(options, async (world) => {
      const client = await signedUp(world)
      world.clock.advance(601)
      await client.post('/auth/refresh')
      for (const act of [() => client.delete('/auth/account'), () => client.get('/auth/account/export')]) {
        const { status, body } = await act()
        expect([status, body.code]).to.deep.equal([403, 'reauthentication_required'])
      }
      expect((await world.client().delete('/auth/account')).status).to.equal(401)
      expect((await world.client().get('/auth/account/export')).status).to.equal(401)
      await client.post('/auth/confirm', { password: PASSWORD })
      expect((await client.delete('/auth/account')).status).to.equal(204)
    })
  })

  it('serves a page that spends nothing when it is opened', () => {
    const { links, world: options } = withAccount()
    return onSqlite(options, async (world) => {
      const client = await signedUp(world)
      await client.delete('/auth/account')
      await settle(world)
      const { pathname } = new URL(links[0]!)
      for (let visit = 0; visit < 3; visit++) {
        const page = await world.client().get(pathname)
        expect([page.status, page.headers['referrer-policy']]).to.deep.equal([200, 'no-referrer'])
        expect(page.text).to.include('Take it back').and.not.include(tokenIn(links[0]!))
      }
      expect((await restore(world, links[0]!)).status).to.equal(200)
    })
  })

  it('refuses a link that was changed in any part', () => {
    const { links, world: options } = withAccount()
    return onSqlite(options, async (world) => {
      const client = await signedUp(world)
      await world.client().post('/auth/signup', { ...ADA, email: 'eve@example.com' })
      await client.delete('/auth/account')
      await settle(world)
      const [userId, keyId, sealed] = tokenIn(links[0]!)!.split('.')
      const [, eve] = await world.storage.users()
      for (const token of [
        '',
        '..',
        `${userId}.${keyId}`,
        `${eve.id}.${keyId}.${sealed}`,
        `${userId}.${keyId}.${sealed!.slice(0, -2)}AA`,
        `${userId}.other.${sealed}`,
      ]) {
        const { status } = await world.client().post('/auth/account/restore', { token })
        expect(status, token).to.equal(token === '' ? 422 : 401)
      }
      expect((await restore(world, links[0]!)).status).to.equal(200)
    })
  })

  it('limits deletions and exports of a user', () => {
    const { world: options } = withAccount()
    return onSqlite({ ...options, limited: true }, async (world) => {
      const client = await signedUp(world)
      for (let count = 0; count < 10; count++)
        expect((await client.get('/auth/account/export')).status).to.equal(200)
      expect((await client.get('/auth/account/export')).status).to.equal(429)
      expect((await client.delete('/auth/account')).status).to.equal(429)
      expect(world.typesOf().slice(-2)).to.deep.equal(['auth.export.limited', 'auth.deletion.limited'])
    })
  })

  it('keeps the account until the application has deleted its own data', () => {
    const calls: string[] = []
    const eraseData = (userId: string) => {
      calls.push(userId)
      if (calls.length === 1) throw new Error('the bucket is away')
    }
    const { world: options } = withAccount({ eraseData })
    return onSqlite(options, async (world) => {
      const client = await signedUp(world)
      const [{ id }] = await world.storage.users()
      await client.delete('/auth/account')
      world.clock.advance(14 * DAY)
      await prune(world)
      expect(await world.storage.users()).to.have.length(1)
      await prune(world)
      expect(await world.storage.users()).to.deep.equal([])
      expect(calls).to.deep.equal([id, id])
    })
  })

  it('refuses wrong options at the start', async () => {
    for (const options of [{ grace: '5m' }, { grace: '400d' }, { exportData: 1 }, { gracee: '1d' }])
      expect((await failureOf(() => account(options as never))).code).to.match(/^MORTAR_(AUTH_)?OPTION/)
  })
})

/** A deletion that is requested ten days later can be taken back for the whole time of grace. */
async function hasWholeTime(
  world: World,
  client: Awaited<ReturnType<typeof signedUp>>,
  links: readonly string[],
): Promise<void> {
  world.clock.advance(10 * DAY)
  await client.post('/auth/login', ADA)
  expect((await client.delete('/auth/account')).status).to.equal(204)
  world.clock.advance(13 * DAY)
  await prune(world)
  await settle(world)
  expect((await restore(world, links.at(-1)!)).status).to.equal(200)
}
