import { expect } from 'chai'
import type { AuthEvents } from '@mortar/auth'
import { audit } from '@mortar/auth/audit'
import type { ConnectedPasswordProvider } from '@mortar/auth/basic'
import { recent } from '@mortar/auth/recent'
import type { Records } from '../../../../plugins/auth/accounts/records.ts'
import { createAuditWriter } from '../../../../plugins/auth/features/audit/audit-writer.ts'
import type { FeatureKit } from '../../../../plugins/auth/features/feature.ts'
import { failureOf } from '../support/failure-of.ts'
import { onEachDatabase } from '../support/on-each-store.ts'
import {
  ADA,
  inWorld as onSqlite,
  PASSWORD,
  resetTokenFor,
  settle,
  signedUp,
  type World,
  type WorldOptions,
} from '../support/world.ts'

const DAY = 86_400
const WITH_AUDIT: WorldOptions = {
  withFeatures: true,
  auth: { features: [recent(), audit({ keep: '30d' })] },
}
const KIT = {
  clock: { now: () => 0 },
  users: { findUserById: async () => ({}) },
  mails: { later: (work: () => unknown) => void work() },
} as unknown as FeatureKit
const accountsOf = ({ app }: World) =>
  (app.services as unknown as { authProvider: ConnectedPasswordProvider }).authProvider.accounts!
const log = async (world: World, query = {}) => {
  await settle(world)
  return accountsOf(world).audit!.list(query)
}

onEachDatabase('audit()', (inWorld) => {
  it('stores the events of a user in order, the newest first, in pages', () =>
    inWorld(WITH_AUDIT, async (world) => {
      const client = await signedUp(world)
      await world.client().post('/auth/signup', { ...ADA, email: 'eve@example.com' })
      await world.client().post('/auth/login', { ...ADA, password: 'wrong horse battery' })
      await client.post('/auth/confirm', { password: PASSWORD })
      await client.post('/auth/logout')
      const [{ id: userId }] = (await world.storage.users()).filter(({ email }) => email === ADA.email)
      const all = await log(world, { userId })
      expect(all.map(({ event }) => event)).to.deep.equal([
        'auth.logout',
        'auth.confirmed',
        'auth.login.failed',
        'auth.signup.succeeded',
      ])
      expect(all[2]).to.deep.include({ userId, ip: '127.0.0.1', data: { reason: 'invalid_credentials' } })
      expect(all[1]!.sessionId).to.match(/^[0-9a-f-]{36}$/)
      expect(all[1]!.requestId).to.be.a('string')
      expect(all[3]!.at).to.equal(new Date(world.clock.now()).toISOString())
      const [first, second] = await log(world, { userId, limit: 2 })
      expect([first, second]).to.deep.equal(all.slice(0, 2))
      expect(await log(world, { userId, limit: 2, before: second!.id })).to.deep.equal(all.slice(2))
      expect(await log(world, { limit: 0 })).to.deep.equal(all.slice(0, 1))
      expect(await log(world)).to.have.length(5)
    }))

  it('keeps every entry of 32 simultaneous logins, each with its own key', () =>
    inWorld(WITH_AUDIT, async (world) => {
      await signedUp(world)
      await Promise.all(Array.from({ length: 32 }, () => world.client().post('/auth/login', ADA)))
      const entries = await log(world, { limit: 100 })
      expect(entries.filter(({ event }) => event === 'auth.login.succeeded')).to.have.length(32)
      expect(new Set(entries.map(({ id }) => id)).size).to.equal(33)
    }))

  it('lists events of one millisecond in their order', () =>
    inWorld(WITH_AUDIT, async (world) => {
      await signedUp(world)
      const requests: unknown[] = []
      for (let count = 0; count < 20; count++)
        requests.unshift((await world.client().post('/auth/login', ADA)).headers['x-request-id'])
      const [...entries] = await log(world, { limit: 20 })
      expect(new Set(entries.map(({ at }) => at)).size).to.equal(1)
      expect(entries.map(({ requestId }) => requestId)).to.deep.equal(requests)
    }))

  it('has no password, token, hash or address, and nothing of a refresh', () =>
    inWorld(WITH_AUDIT, async (world) => {
      const client = await signedUp(world)
      const tokens = [client.refreshToken, client.accessToken]
      await client.post('/auth/refresh')
      tokens.push(client.refreshToken, client.accessToken)
      await world.client().post('/auth/login', { ...ADA, email: 'nobody@example.com' })
      tokens.push(await resetTokenFor(world))
      const reset = { token: tokens.at(-1), password: 'another horse battery' }
      expect((await world.client().post('/auth/reset-password', reset)).status).to.equal(200)
      await log(world)
      const text = JSON.stringify(await world.storage.rows('auth_audit'))
      const [user] = await world.storage.users()
      for (const secret of [...tokens, PASSWORD, reset.password, user.password_hash, '@example.com'])
        expect(text).to.not.include(secret)
      expect(text).to.include('auth.password.reset.succeeded').and.not.include('auth.token.refreshed')
    }))

  it('deletes entries once they need not be kept any more, and those of a user with the user', () =>
    inWorld(WITH_AUDIT, async (world) => {
      await signedUp(world)
      await settle(world)
      world.clock.advance(30 * DAY - 1)
      await accountsOf(world).prune()
      expect(await log(world)).to.have.length(1)
      world.clock.advance(1)
      await accountsOf(world).prune()
      expect(await log(world)).to.deep.equal([])
      await world.client().post('/auth/login', ADA)
      const [{ id }] = await world.storage.users()
      expect(await log(world, { userId: id })).to.have.length(1)
      await accountsOf(world).remove(id)
      const left = await log(world)
      expect(left.map(({ event, userId, data }) => [event, userId, data])).to.deep.equal([
        ['auth.user.deleted', null, { userId: id }],
      ])
      // An attempt that began before the deletion ends after it.
      const late = { userId: id, email: ADA.email, reason: 'busy' }
      world.app.events.typed<AuthEvents>().emit('auth.login.failed', late)
      expect(await log(world)).to.deep.equal(left)
    }))
})

describe('audit()', () => {
  it('stores one refusal of a stranger in a while, and each of a user', () =>
    onSqlite(WITH_AUDIT, async (world) => {
      await signedUp(world)
      for (let count = 0; count < 5; count++) {
        await world.client().post('/auth/login', { ...ADA, password: 'wrong horse battery' })
        await world.client().post('/auth/login', { ...ADA, email: 'nobody@example.com' })
        await world.client().post('/auth/reset-password', { token: 'x', password: PASSWORD })
      }
      const failures = async (isOwn: boolean) =>
        (await log(world)).filter(
          ({ event, userId }) => event.includes('failed') && (userId !== null) === isOwn,
        )
      expect(await failures(true)).to.have.length(5)
      expect(await failures(false)).to.have.length(2)
      // The last clock was an hour ahead, and is right again.
      for (const [at, seconds] of [61, 3600, -3600].entries()) {
        world.clock.advance(seconds)
        await world.client().post('/auth/login', { ...ADA, email: 'nobody@example.com' })
        expect(await failures(false)).to.have.length(3 + at)
      }
    }))

  it('lets a user in although nothing can be stored', () =>
    onSqlite({ auth: WITH_AUDIT.auth! }, async (world) => {
      const client = await signedUp(world)
      await settle(world)
      expect((await client.get('/private')).status).to.equal(200)
    }))

  it('stores refusals of a stranger for different reasons', async () => {
    const reasons: unknown[] = []
    const insert = async ({ data }: { data: unknown }) => reasons.push(data)
    const writer = createAuditWriter(KIT, { insert } as unknown as Records, DAY)
    for (const reason of ['invalid_credentials', 'too_many_requests', 'invalid_credentials'])
      writer.write('auth.login.failed', { ip: '192.0.2.7', userId: null, reason })
    await writer.settled()
    expect(reasons).to.deep.equal([
      JSON.stringify({ reason: 'invalid_credentials' }),
      JSON.stringify({ reason: 'too_many_requests' }),
    ])
  })

  it('stores one refusal for all addresses of a network, which its owner has without number', async () => {
    const stored: unknown[] = []
    const insert = async ({ ip }: { ip: unknown }) => stored.push(ip)
    const writer = createAuditWriter(KIT, { insert } as unknown as Records, DAY)
    for (const ip of ['2001:db8::1', '2001:db8::2', '2001:db8:0:0:ffff::3', '2001:db8:0:1::1', '192.0.2.7'])
      writer.write('auth.login.failed', { ip, userId: null, reason: 'invalid_credentials' })
    await writer.settled()
    expect(stored).to.deep.equal(['2001:db8::1', '2001:db8:0:1::1', '192.0.2.7'])
  })

  it('stores 10,000 refusals of strangers in a minute, from however many networks', async () => {
    const clock = { time: 0, now: () => clock.time }
    let stored = 0
    const insert = async () => (stored += 1)
    const writer = createAuditWriter({ ...KIT, clock }, { insert } as unknown as Records, DAY)
    const refuse = async (from: number, to: number) => {
      for (let n = from; n < to; n++) {
        const ip = `2001:db8:${(n >> 16).toString(16)}:${(n & 0xffff).toString(16)}::1`
        writer.write('auth.login.failed', { ip, userId: null, reason: 'invalid_credentials' })
        if (n % 500 === 0) await writer.settled()
      }
      await writer.settled()
    }
    await refuse(0, 10_500)
    expect(stored).to.equal(10_000)
    await refuse(0, 500)
    expect(stored).to.equal(10_000)
    clock.time += 60_000
    await refuse(0, 500)
    expect(stored).to.equal(10_500)
  })

  it('begins an entry at the random delay of a mail, since the time of a response would show that it has a user', async () => {
    const stored: unknown[] = []
    const insert = async ({ user_id: userId }: { user_id: unknown }) => stored.push(userId)
    const works: (() => unknown)[] = []
    const mails = { later: (work: () => unknown) => void works.push(work) } as unknown as FeatureKit['mails']
    const writer = createAuditWriter({ ...KIT, mails }, { insert } as unknown as Records, DAY)
    writer.write('auth.login.failed', { userId: 'ada', reason: 'invalid_credentials' })
    await writer.settled()
    expect([stored, works.length]).to.deep.equal([[], 1])
    await works[0]!()
    expect(stored).to.deep.equal(['ada'])
  })

  it('waits for no entry, remembers 1,000 of them at most, and logs how many are lost', async () => {
    let inserted = 0
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const insert = async () => {
      await held
      inserted += 1
      return true
    }
    const failures: { error?: Error; fields?: object }[] = []
    const outages = { log: (failure: object) => void failures.push(failure) }
    const kit = { ...KIT, outages } as unknown as FeatureKit
    const writer = createAuditWriter(kit, { insert } as unknown as Records, DAY)
    for (let count = 0; count < 1500; count++) writer.write('auth.login.succeeded', { userId: 'ada' })
    expect(inserted).to.equal(0)
    expect([failures.length, failures.at(-1)?.fields]).to.deep.equal([500, { lost: 500 }])
    expect(failures[0]?.error?.message).to.include('1000 entries wait')
    release()
    await writer.settled()
    expect(inserted).to.equal(1000)
    writer.write('auth.login.succeeded', { userId: 'ada' })
    await writer.settled()
    expect(inserted).to.equal(1001)
  })

  it('refuses wrong options at the start', async () => {
    for (const options of [{ keep: '1h' }, { keep: 'forever' }, { kept: '1d' }])
      expect((await failureOf(() => audit(options))).code).to.match(/^MORTAR_(AUTH_)?OPTION/)
  })
})
