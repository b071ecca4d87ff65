import argon2 from 'argon2'
import { expect } from 'chai'
import type { ObjectLiteral } from 'typeorm'
import { KINDS } from '../../database/databases.ts'
import { cookieOf, type Reply } from '../acceptance/service.ts'
import { refreshWithAborts } from './aborting-client.ts'
import { openFleet, type Fleet } from './fleet.ts'

/** `TEST_RACE_ROUNDS=100` for a longer look. */
const ROUNDS = Number(process.env['TEST_RACE_ROUNDS'] ?? 2)
const SIZE = 3
const PASSWORD = 'the password at first'

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

function statusesOf(replies: readonly Reply[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

for (const [name, kind] of Object.entries(KINDS))
  describe(`several processes on one ${name} database`, function () {
    this.timeout(180_000 + ROUNDS * 10_000)
    const place = kind('suite')
    let fleet: Fleet
    let number = 0
    before(async () => {
      fleet = await openFleet(place(), SIZE)
    })
    after(() => fleet.stop())

    const newcomer = async () => {
      const email = `user${++number}@example.com`
      const reply = await fleet.post(number, '/auth/signup', { name: 'Ada', email, password: PASSWORD })
      if (reply.status !== 201) throw new Error(`${reply.status} ${reply.text}`)
      return {
        email,
        cookie: cookieOf(reply),
        bearer: { authorization: `Bearer ${reply.body.accessToken}` },
        id: reply.body.user.id as string,
      }
    }
    const login = (email: string, password: string, n = 0) =>
      fleet.post(n, '/auth/login', { email, password })
    const refresh = (cookie: string, n = 0) => fleet.post(n, '/auth/refresh', undefined, { cookie })
    const count = (table: string, where: ObjectLiteral) => fleet.source.getRepository(table).countBy(where)
    const tokenFor = async (email: string): Promise<string> => {
      const before = (await fleet.all<string[]>('/mails'))[0]!.length
      await fleet.post(0, '/auth/forgot-password', { email })
      for (;;) {
        const [mails] = await fleet.all<string[]>('/mails')
        if (mails!.length > before) return mails!.at(-1)!
      }
    }
    const rounds = async (body: () => Promise<void>): Promise<void> => {
      for (let round = 0; round < ROUNDS; round++) await body()
    }

    it('ends no session of eight clients that abort refreshes and repeat them immediately', async () => {
      const clients = await Promise.all(times(8, newcomer))
      const statuses = await Promise.all(
        clients.map(({ cookie }, n) => refreshWithAborts(fleet, n, cookie, 6 * ROUNDS)),
      )
      expect(statuses).to.deep.equal(clients.map(() => 200))
    })

    it('gives 64 refreshes with one cookie one and the same successor', () =>
      rounds(async () => {
        const { cookie } = await newcomer()
        const replies = await Promise.all(times(64, (n) => refresh(cookie, n)))
        expect(statusesOf(replies)).to.deep.equal({ 200: 64 })
        const successors = new Set(replies.map(cookieOf))
        expect(successors.size).to.equal(1)
        expect((await refresh([...successors][0]!)).status).to.equal(200)
      }))

    it('lets one of 32 redemptions of a reset token win, with its password, and ends all sessions', () =>
      rounds(async () => {
        const { email, cookie } = await newcomer()
        const other = cookieOf(await login(email, PASSWORD))
        const token = await tokenFor(email)
        const replies = await Promise.all(
          times(32, (n) =>
            fleet.post(n, '/auth/reset-password', { token, password: `the new password ${n}` }),
          ),
        )
        expect(statusesOf(replies)).to.deep.equal({ 200: 1, 401: 31 })
        const winner = replies.findIndex(({ status }) => status === 200)
        const logins = await Promise.all(times(32, (n) => login(email, `the new password ${n}`, n)))
        expect(logins.map(({ status }) => status)).to.deep.equal(times(32, (n) => (n === winner ? 200 : 401)))
        for (const each of [cookie, other]) expect((await refresh(each)).status).to.equal(401)
      }))

    it('gives an address that 32 sign up for in different spellings to one of them', () =>
      rounds(async () => {
        const local = `r\u00e9n\u00e9${++number}`
        const spell = (n: number) => {
          const cased = n % 2 ? local.toUpperCase() : local
          return `${n % 3 ? ' ' : ''}${cased.normalize(n % 5 < 2 ? 'NFD' : 'NFC')}@${n % 7 ? 'Example' : 'example'}.com${n % 4 ? '' : '\t'}`
        }
        const replies = await Promise.all(
          times(32, (n) =>
            fleet.post(n, '/auth/signup', { name: `N${n}`, email: spell(n), password: PASSWORD }),
          ),
        )
        expect(statusesOf(replies)).to.deep.equal({ 201: 1, 409: 31 })
        expect(await count('auth_users', { email: `${local}@example.com` })).to.equal(1)
      }))

    it('lets no refresh live after a logout', () =>
      rounds(async () => {
        const { cookie, id } = await newcomer()
        const racing = times(32, (n) => refresh(cookie, n))
        const logout = await fleet.post(1, '/auth/logout', undefined, { cookie })
        expect(logout.status).to.equal(204)
        expect((await refresh(cookie, 2)).status).to.equal(401)
        const replies = await Promise.all(racing)
        for (const { status } of replies) expect(status).to.be.oneOf([200, 401])
        for (const reply of replies.filter(({ status }) => status === 200))
          expect((await refresh(cookieOf(reply))).status).to.equal(401)
        expect(await count('auth_refresh_tokens', { user_id: id })).to.equal(0)
      }))

    it('gives the changer of a password a new session through 32 refreshes, and ends all others', () =>
      rounds(async () => {
        const { email, cookie, bearer } = await newcomer()
        const other = cookieOf(await login(email, PASSWORD))
        const mine = times(16, (n) => refresh(cookie, n))
        const theirs = times(16, (n) => refresh(other, n))
        const change = await fleet.post(
          1,
          '/auth/change-password',
          { current: PASSWORD, next: 'the password that comes next' },
          { ...bearer, cookie },
        )
        expect(change.status).to.equal(200)
        const own = await Promise.all(mine)
        const others = [...own, ...(await Promise.all(theirs))].filter(({ status }) => status === 200)
        for (const reply of others) expect((await refresh(cookieOf(reply))).status).to.equal(401)
        expect((await refresh(other)).status).to.equal(401)
        expect((await refresh(cookie)).status).to.equal(401)
        expect((await refresh(cookieOf(change))).status).to.equal(200)
      }))

    it('lets one of 16 changes with the same current password win', () =>
      rounds(async () => {
        const { email } = await newcomer()
        const sessions = await Promise.all(times(16, (n) => login(email, PASSWORD, n)))
        const replies = await Promise.all(
          sessions.map(({ body }, n) =>
            fleet.post(
              n,
              '/auth/change-password',
              { current: PASSWORD, next: `the next password ${n}` },
              { authorization: `Bearer ${body.accessToken}` },
            ),
          ),
        )
        expect(statusesOf(replies)).to.deep.equal({ 200: 1, 401: 15 })
        const winner = replies.findIndex(({ status }) => status === 200)
        const logins = await Promise.all(times(16, (n) => login(email, `the next password ${n}`, n)))
        expect(logins.map(({ status }) => status)).to.deep.equal(times(16, (n) => (n === winner ? 200 : 401)))
        const alive = await Promise.all(sessions.map((reply, n) => refresh(cookieOf(reply), n)))
        expect(statusesOf(alive)).to.deep.equal({ 401: 16 })
        expect((await refresh(cookieOf(replies[winner]!))).status).to.equal(200)
      }))

    it('never overwrites the password of a reset with a hash renewed at login', () =>
      rounds(async () => {
        const { email, id } = await newcomer()
        const cost = { memoryCost: 128, timeCost: 2, parallelism: 1 }
        const users = fleet.source.getRepository('auth_users')
        await users.update({ id }, { password_hash: await argon2.hash(PASSWORD, cost) })
        const token = await tokenFor(email)
        const logins = times(16, (n) => login(email, PASSWORD, n))
        const reset = await fleet.post(1, '/auth/reset-password', { token, password: 'the brand new one' })
        expect(reset.status).to.equal(200)
        for (const reply of await Promise.all(logins)) {
          expect(reply.status).to.be.oneOf([200, 401])
          if (reply.status === 200) expect((await refresh(cookieOf(reply))).status).to.equal(401)
        }
        expect((await login(email, PASSWORD)).status).to.equal(401)
        expect((await login(email, 'the brand new one')).status).to.equal(200)
      }))

    it('keeps the newest 32 reset tokens of the many that one address asks for together', () =>
      rounds(async () => {
        const { email, id } = await newcomer()
        const before = (await fleet.all<string[]>('/mails')).flat().length
        const replies = await Promise.all(times(50, (n) => fleet.post(n, '/auth/forgot-password', { email })))
        expect(statusesOf(replies)).to.deep.equal({ 200: 50 })
        let sent = before
        while (sent < before + 50) sent = (await fleet.all<string[]>('/mails')).flat().length
        expect(await count('auth_reset_tokens', { user_id: id })).to.equal(32)
      }))
  })
