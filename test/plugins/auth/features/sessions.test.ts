import Sqlite from 'better-sqlite3'
import { expect } from 'chai'
import { recent } from '@mortar/auth/recent'
import { sessions } from '@mortar/auth/sessions'
import { basicAuth } from '@mortar/auth/basic'
import { deviceName } from '../../../../plugins/auth/accounts/device-name.ts'
import { onEachDatabase, onEachStore } from '../support/on-each-store.ts'
import {
  ADA,
  inWorld as onSqlite,
  PASSWORD,
  SECRET,
  settle,
  signedUp,
  type WorldOptions,
} from '../support/world.ts'
import { failureOf } from '../support/failure-of.ts'

const WITH_SESSIONS: WorldOptions = { withFeatures: true, auth: { features: [sessions(), recent()] } }
const FIREFOX = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0' }

onEachDatabase('sessions()', (inWorld) => {
  it('lists the active sessions of the user alone, with the own one marked', () =>
    inWorld(WITH_SESSIONS, async (world) => {
      const client = await signedUp(world)
      await world.client().post('/auth/signup', { ...ADA, email: 'eve@example.com' })
      world.clock.advance(60)
      const phone = world.client()
      await phone.post('/auth/login', ADA, FIREFOX)
      const ended = world.client()
      await ended.post('/auth/login', ADA)
      await ended.post('/auth/logout')
      const left = world.client()
      await left.post('/auth/login', ADA)
      world.storage.interruptions.reject('delete sessions', 'The row of an ended session is left.', 2)
      expect((await left.post('/auth/logout')).status).to.equal(500)
      const { status, body } = await client.get('/auth/sessions')
      expect(status).to.equal(200)
      expect(body.sessions).to.have.length(2)
      const [second, first] = body.sessions
      expect(first).to.include({ current: true, device: 'Unknown client', ip: '127.0.0.1' })
      expect(second).to.include({ current: false, device: 'Firefox on Linux' })
      expect(Date.parse(second.signedInAt) - Date.parse(first.signedInAt)).to.equal(60_000)
      expect(Date.parse(first.endsAt) - Date.parse(first.signedInAt)).to.equal(30 * 86_400_000)
      expect(first).to.have.all.keys(
        'id',
        'current',
        'device',
        'ip',
        'place',
        'signedInAt',
        'lastUsedAt',
        'endsAt',
      )
    }))

  it('ends one session, and every other one, and no session of somebody else', () =>
    inWorld(WITH_SESSIONS, async (world) => {
      const client = await signedUp(world)
      const others = await Promise.all(
        ['a', 'b', 'c'].map(async () => {
          const other = world.client()
          await other.post('/auth/login', ADA)
          return other
        }),
      )
      const eve = world.client()
      await eve.post('/auth/signup', { ...ADA, email: 'eve@example.com' })
      const [{ id: foreign }] = (await eve.get('/auth/sessions')).body.sessions
      expect((await client.delete(`/auth/sessions/${foreign}`)).status).to.equal(404)
      expect((await client.delete('/auth/sessions/unknown')).status).to.equal(404)
      const { id } = (await others[0]!.get('/auth/sessions')).body.sessions.find(
        ({ current }: { current: boolean }) => current,
      )
      const ends = await Promise.all(
        Array.from({ length: 8 }, () => client.copy().delete(`/auth/sessions/${id}`)),
      )
      expect(ends.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([
        204,
        ...Array.from({ length: 7 }, () => 404),
      ])
      expect((await others[0]!.get('/private')).status).to.equal(401)
      expect((await others[0]!.post('/auth/refresh')).status).to.equal(401)
      expect((await others[1]!.get('/private')).status).to.equal(200)
      expect((await client.delete('/auth/sessions')).status).to.equal(204)
      for (const other of others) expect((await other.post('/auth/refresh')).status).to.equal(401)
      expect((await client.get('/auth/sessions')).body.sessions).to.have.length(1)
      expect((await client.post('/auth/refresh')).status).to.equal(200)
      expect((await eve.get('/private')).status).to.equal(200)
      expect(world.typesOf()).to.include.members(['auth.session.ended', 'auth.session.end.failed'])
    }))

  it('ends a session while it is refreshed 32 times', () =>
    inWorld(WITH_SESSIONS, async (world) => {
      const client = await signedUp(world)
      const other = world.client()
      await other.post('/auth/login', ADA)
      const refreshes = Array.from({ length: 32 }, () => other.copy().post('/auth/refresh'))
      const [end] = await Promise.all([client.delete('/auth/sessions'), ...refreshes])
      expect(end.status).to.equal(204)
      expect((await other.post('/auth/refresh')).status).to.equal(401)
      expect((await other.get('/private')).status).to.equal(401)
    }))

  it('ends every other session by one statement, and keeps the own one through a second time', () =>
    inWorld(WITH_SESSIONS, async (world) => {
      const client = await signedUp(world)
      const others = Array.from({ length: 4 }, () => world.client())
      for (const other of others) await other.post('/auth/login', ADA)
      const statements: string[] = []
      world.storage.interruptions.gate = (statement) => void statements.push(String(statement))
      expect((await client.delete('/auth/sessions')).status).to.equal(204)
      expect(statements.filter((each) => each === 'update users')).to.have.length(1)
      expect(statements.filter((each) => each === 'delete sessions').length).to.be.at.most(1)
      for (const other of others) {
        expect((await other.get('/private')).status).to.equal(401)
        expect((await other.post('/auth/refresh')).status).to.equal(401)
      }
      expect((await client.get('/private')).status).to.equal(200)
      const again = await Promise.all(Array.from({ length: 8 }, () => client.copy().delete('/auth/sessions')))
      expect(again.map(({ status }) => status)).to.deep.equal(Array.from({ length: 8 }, () => 204))
      expect((await client.post('/auth/refresh')).status).to.equal(200)
      expect((await world.client().post('/auth/login', ADA)).status).to.equal(200)
      expect((await client.get('/auth/sessions')).body.sessions).to.have.length(2)
    }))

  it('ends every other session, also one that begins beside a second request of the same session', () =>
    inWorld(WITH_SESSIONS, async (world) => {
      const client = await signedUp(world)
      const late = world.client()
      world.storage.interruptions.meanwhile('update users', async () => {
        expect((await client.copy().delete('/auth/sessions')).status).to.equal(204)
        expect((await late.post('/auth/login', ADA)).status).to.equal(200)
      })
      expect((await client.delete('/auth/sessions')).status).to.equal(204)
      expect((await late.get('/private')).status).to.equal(401)
      expect((await client.get('/private')).status).to.equal(200)
    }))

  it('ends the oldest session beyond `maxSessions`, and shows the place of each address', () => {
    const features = [recent(), sessions({ place: async (ip) => (ip === '127.0.0.1' ? 'Home' : '?') })]
    return inWorld({ withFeatures: true, auth: { maxSessions: 2, features } }, async (world) => {
      const first = await signedUp(world)
      const rest = [world.client(), world.client()]
      for (const client of rest) {
        world.clock.advance(1)
        await client.post('/auth/login', ADA)
      }
      expect((await first.get('/private')).status).to.equal(401)
      // The session that a browser replaces makes room for its new one.
      await rest[1]!.post('/auth/login', ADA)
      const { sessions: active } = (await rest[1]!.get('/auth/sessions')).body
      expect(active.map(({ place }: { place: string }) => place)).to.deep.equal(['Home', 'Home'])
      expect((await rest[1]!.post('/auth/confirm', { password: PASSWORD })).status).to.equal(200)
      expect((await rest[0]!.post('/auth/refresh')).status).to.equal(200)
    })
  })

  it('forgets browser and address once the session would have ended', () =>
    inWorld(WITH_SESSIONS, async (world) => {
      await signedUp(world)
      const ownersAfter = async (seconds: number, email: string) => {
        world.clock.advance(seconds)
        await world.client().post('/auth/signup', { ...ADA, email })
        await settle(world)
        const users = new Map((await world.storage.users()).map((user) => [user.id, user.email]))
        const rows = await world.storage.rows('auth_session_details')
        return rows.map(({ user_id: id }) => users.get(id))
      }
      const [eve, kay] = ['eve@example.com', 'kay@example.com']
      expect(await ownersAfter(30 * 86_400 - 1, eve)).to.have.members([ADA.email, eve])
      expect(await ownersAfter(3601, kay)).to.have.members([eve, kay])
    }))
})

onEachStore('sessions()', (inWorld) => {
  it('leaves the sessions in place if the process ends before the statement, and none after it', async () => {
    for (let statement = 1; ; statement++) {
      let reached = true
      await inWorld(WITH_SESSIONS, async (world) => {
        const client = await signedUp(world)
        const other = world.client()
        await other.post('/auth/login', ADA)
        await settle(world)
        const failing = world.storage.interruptions.failFrom(statement)
        const { status } = await client.delete('/auth/sessions')
        failing.restore()
        reached = failing.reached()
        if (status === 204) expect((await other.post('/auth/refresh')).status).to.equal(401)
        expect((await client.post('/auth/refresh')).status).to.equal(200)
      })
      if (!reached) return
    }
  })
})

describe('sessions()', () => {
  it('shows browser and address of a session, however many the user has ended', () =>
    onSqlite({ ...WITH_SESSIONS, file: true }, async (world) => {
      const client = await signedUp(world)
      const [{ user_id: userId, expires_at: end }] = await world.storage.rows('auth_session_details')
      const database = new Sqlite(world.file)
      database
        .prepare(
          `insert into auth_session_details (session_id, user_id, created_at, expires_at)
           with recursive n(i) as (select 1 union all select i + 1 from n where i < 1500)
           select 'ended-' || i, ?, 0, ? from n`,
        )
        .run(userId, end)
      database.close()
      await client.post('/auth/login', ADA)
      expect((await client.get('/auth/sessions')).body.sessions[0].ip).to.equal('127.0.0.1')
    }))

  it('needs a recent proof to end a session, and a signed-in user', () =>
    onSqlite(WITH_SESSIONS, async (world) => {
      const client = await signedUp(world)
      world.clock.advance(601)
      await client.post('/auth/refresh')
      for (const path of ['/auth/sessions', '/auth/sessions/any']) {
        const answer = await client.delete(path)
        expect([answer.status, answer.body.code]).to.deep.equal([403, 'reauthentication_required'])
        expect((await world.client().delete(path)).status).to.equal(401)
      }
      expect((await client.get('/auth/sessions')).status).to.equal(200)
      expect((await world.client().get('/auth/sessions')).status).to.equal(401)
      await client.post('/auth/confirm', { password: PASSWORD })
      expect((await client.delete('/auth/sessions')).status).to.equal(204)
    }))

  it('limits how many sessions a user ends', () =>
    onSqlite({ ...WITH_SESSIONS, limited: true }, async (world) => {
      const client = await signedUp(world)
      for (let count = 0; count < 60; count++)
        expect((await client.delete('/auth/sessions')).status).to.equal(204)
      expect((await client.delete('/auth/sessions')).status).to.equal(429)
      expect(world.typesOf().at(-1)).to.equal('auth.session.end.limited')
    }))

  it('lets a user in although browser and address cannot be stored, and logs it', () =>
    onSqlite({ auth: WITH_SESSIONS.auth! }, async (world) => {
      const client = await signedUp(world)
      expect((await client.get('/private')).status).to.equal(200)
    }))

  it('cuts off a long agent and stores it as it is, and shows only its own words', () =>
    onSqlite(WITH_SESSIONS, async (world) => {
      const agent = `<script>alert(1)</script>${'x'.repeat(1000)} Firefox/1`
      const client = world.client()
      await client.post('/auth/signup', ADA, { 'user-agent': agent })
      const [row] = await world.storage.rows('auth_session_details')
      expect(row.agent).to.equal(agent.slice(0, 255))
      expect((await client.get('/auth/sessions')).text).to.not.include('script')
    }))

  const noMap = new Error('no map')
  const failing = {
    rejects: () => Promise.reject(noMap),
    throws: () => {
      throw noMap
    },
    'never answers': () => new Promise<never>(() => {}),
  }
  for (const [how, place] of Object.entries(failing))
    it(`lists sessions although the place cannot be found: the function ${how}`, () =>
      onSqlite({ withFeatures: true, auth: { features: [recent(), sessions({ place })] } }, async (world) => {
        const { status, body } = await (await signedUp(world)).get('/auth/sessions')
        expect([status, body.sessions[0].place]).to.deep.equal([200, null])
      }))

  it('is refused without recent() and twice, and so is anything else', async () => {
    for (const make of [
      () => basicAuth({ secret: SECRET, features: [sessions()] }),
      () => basicAuth({ secret: SECRET, features: [recent(), recent()] }),
      () => basicAuth({ secret: SECRET, features: [recent as never] }),
      () => basicAuth({ secret: SECRET, features: [undefined as never] }),
    ])
      expect((await failureOf(make)).code).to.equal('MORTAR_AUTH_OPTION')
  })
})

describe('deviceName', () => {
  for (const [agent, name] of [
    [FIREFOX['user-agent'], 'Firefox on Linux'],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36 Edg/130.0',
      'Edge on Windows',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/64.0.3282.140 Safari/537.36 Edge/18.17763',
      'Edge on Windows',
    ],
    [
      'Mozilla/5.0 (Linux; Android 10; HD1913) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36 EdgA/130.0',
      'Edge on Android',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 EdgiOS/130.0 Mobile/15E148 Safari/605.1.15',
      'Edge on iPhone',
    ],
    [
      'Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/130.0 Mobile/15E148 Safari/605.1.15',
      'Firefox on iPad',
    ],
    [
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Ubuntu Chromium/130.0 Safari/537.36',
      'Chrome on Linux',
    ],
    ['Opera/9.80 (Windows NT 6.1) Presto/2.12.388 Version/12.18', 'Opera on Windows'],
    ['Dalvik/2.1.0 (Linux; U; Android 14)', 'Unknown client on Android'],
    ['Firefox/130.0', 'Firefox'],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
      'Safari on iPhone',
    ],
    [
      'Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36',
      'Chrome on Android',
    ],
    [
      'Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/130.0 Mobile/15E148 Safari/604.1',
      'Chrome on iPad',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15',
      'Safari on macOS',
    ],
    [
      'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36 OPR/114.0',
      'Opera on ChromeOS',
    ],
    [
      'Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/26.0 Chrome/122.0.0.0 Mobile Safari/537.36',
      'Samsung Internet on Android',
    ],
    ['curl/8.0', 'Unknown client'],
    ['', 'Unknown client'],
    [undefined, 'Unknown client'],
  ] as const)
    it(`is ${name} for ${agent}`, () => {
      expect(deviceName(agent)).to.equal(name)
    })
})
