import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import * as schema from '@mortar/auth/basic/schema'
import { KINDS, type TestDatabase } from '../../database/databases.ts'
import { cookieOf } from '../acceptance/service.ts'
import { openFleet, type Fleet } from './fleet.ts'

/** As many ended sessions as a process remembers by id. */
const CAPACITY = 250_000
const ROWS = 5000
const PASSWORD = 'correct horse battery'
/** Milliseconds by which one process is ahead, so that its tokens are dated after the mass sign-out. */
const AHEAD = 20_000

/** Publishes as many ends as every process can remember. */
async function fillList(place: TestDatabase): Promise<void> {
  const source = await place.open(schema)
  await source.synchronize()
  const { tablePath } = source.getMetadata('auth_ended_sessions')
  const [ended, expires] = [Date.now() - 60_000, Date.now() + 900_000]
  for (let count = 0; count < CAPACITY; count += ROWS) {
    const rows = Array.from({ length: ROWS }, () => `('${randomUUID()}', ${ended}, ${expires})`)
    await source.query(`insert into ${tablePath} (id, ended_at, expires_at) values ${rows.join(',')}`)
  }
}

/* On SQLite alone, because 250,000 records take seconds, and the suite of stores checks the one statement everywhere. */
describe('More sessions that end than a process remembers', () => {
  const place = KINDS['SQLite']!('suite')
  let fleet: Fleet
  before(async () => {
    await fillList(place())
    fleet = await openFleet(place(), 2, { each: (n) => (n === 1 ? { skew: AHEAD } : {}) })
  })
  after(() => fleet?.stop())

  async function newcomer(n: number) {
    const user = { name: 'Ada', email: `${randomUUID()}@example.com`, password: PASSWORD }
    const reply = await fleet.post(n, '/auth/signup', user)
    const { status, body } = reply
    expect(status).to.equal(201)
    const { sid } = JSON.parse(Buffer.from(body.accessToken.split('.')[1], 'base64url').toString())
    const bearer = { authorization: `Bearer ${body.accessToken}` }
    return { id: String(body.user.id), bearer, cookie: cookieOf(reply), sessionId: String(sid) }
  }
  type Newcomer = Awaited<ReturnType<typeof newcomer>>
  const statusAt = async (n: number, { bearer }: Newcomer) => (await fleet.get(n, '/auth/me', bearer)).status

  it('signs nobody else out, and leaves no ended session alive, whatever the clock of its process', async () => {
    const alive = [await newcomer(0), await newcomer(1), await newcomer(1)]
    const over = [await newcomer(0), await newcomer(1)]
    for (const each of over) {
      for (const n of [0, 1]) expect(await statusAt(n, each)).to.equal(200)
      await fleet.post(0, `/sign-out/${each.id}`)
      expect(await statusAt(0, each)).to.equal(401)
    }
    const deadline = Date.now() + 60_000
    for (const each of over)
      while ((await statusAt(1, each)) === 200) {
        if (Date.now() > deadline) throw new Error('The access token is accepted still.')
        await pause(20)
      }
    // Another process has ended a session and was killed before it deleted the row.
    const left = alive.pop()!
    await fleet.source.getRepository('auth_ended_sessions').insert({
      id: left.sessionId,
      ended_at: Date.now() - 60_000,
      expires_at: Date.now() + 900_000,
    })
    const refreshed = await fleet.post(0, '/auth/refresh', undefined, { cookie: left.cookie })
    expect(refreshed.status).to.equal(401)
    const late = await fleet.join()
    for (const n of [0, 1, late]) {
      for (const each of over) expect(await statusAt(n, each)).to.equal(401)
      for (const each of alive) expect(await statusAt(n, each)).to.equal(200)
    }
  })
})
