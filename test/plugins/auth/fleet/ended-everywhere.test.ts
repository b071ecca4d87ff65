import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { KINDS } from '../../database/databases.ts'
import { cookieOf } from '../acceptance/service.ts'
import { openFleet, type Fleet } from './fleet.ts'

const PASSWORD = 'the password at first'
/** Milliseconds; twenty times what the processes need, for a machine that is busy. */
const PATIENCE = 60_000

for (const [name, kind] of Object.entries(KINDS))
  describe(`A session that ended, in several processes on one ${name} database`, function () {
    const place = kind('suite')
    let fleet: Fleet
    let number = 0
    before(async () => {
      fleet = await openFleet(place(), 2)
    })
    after(() => fleet.stop())

    const newcomer = async () => {
      const email = `ended${++number}@example.com`
      const reply = await fleet.post(0, '/auth/signup', { name: 'Ada', email, password: PASSWORD })
      expect(reply.status).to.equal(201)
      return {
        id: reply.body.user.id as string,
        cookie: cookieOf(reply),
        bearer: { authorization: `Bearer ${reply.body.accessToken}` },
      }
    }
    type Newcomer = Awaited<ReturnType<typeof newcomer>>
    const statusAt = async (n: number, { bearer }: Newcomer): Promise<number> =>
      (await fleet.get(n, '/auth/me', bearer)).status
    const ended = async (n: number, user: Newcomer): Promise<void> => {
      const deadline = Date.now() + PATIENCE
      while ((await statusAt(n, user)) === 200) {
        if (Date.now() > deadline) throw new Error('The access token is accepted still.')
        await pause(20)
      }
      expect(await statusAt(n, user)).to.equal(401)
    }

    it('is over in all of them after a logout, and in one that starts later', async () => {
      const [user, other] = [await newcomer(), await newcomer()]
      expect(await statusAt(1, user)).to.equal(200)
      await fleet.post(0, '/auth/logout', undefined, { cookie: user.cookie })
      expect(await statusAt(0, user)).to.equal(401)
      await ended(1, user)
      const late = await fleet.join()
      expect(await statusAt(late, user)).to.equal(401)
      for (const n of [0, 1, late]) expect(await statusAt(n, other)).to.equal(200)
    })

    it('is over in all of them after a change of the password, also when the account is deleted then', async () => {
      const user = await newcomer()
      const change = { current: PASSWORD, next: 'another horse battery' }
      const changed = await fleet.post(1, '/auth/change-password', change, user.bearer)
      expect(changed.status).to.equal(200)
      await fleet.source.getRepository('auth_users').delete({ id: user.id })
      await ended(0, user)
      expect(await statusAt(await fleet.join(), user)).to.equal(401)
    })

    it('is refused by every process although its row is still there', async () => {
      const user = await newcomer()
      const [session] = await fleet.source.getRepository('auth_refresh_tokens').findBy({ user_id: user.id })
      await fleet.source
        .getRepository('auth_ended_sessions')
        .insert({ id: session!['id'], ended_at: Date.now(), expires_at: Date.now() + 900_000 })
      await ended(0, user)
      const refreshed = await fleet.post(0, '/auth/refresh', undefined, { cookie: user.cookie })
      expect(refreshed.status).to.equal(401)
      expect(await fleet.source.getRepository('auth_refresh_tokens').countBy({ user_id: user.id })).to.equal(
        0,
      )
    })
  })
