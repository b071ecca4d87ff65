import { setTimeout as pause } from 'node:timers/promises'
import { totpCode } from '@mortar/auth/testing'
import { expect } from 'chai'
import { cookieOf, type Reply } from '../acceptance/service.ts'
import type { Processes } from './fleet.ts'
import { SHARED_STORES, type Records } from './shared-stores.ts'

const PASSWORD = 'the password at first'
const NEXT = 'another horse battery'
/** Milliseconds; twenty times what the processes need, for a machine that is busy. */
const PATIENCE = 60_000

/** Rounds of each way to end sessions. */
const ROUNDS = 1
/** Most sessions of a user: the own one, that of its new proof, and one for each login of a round. */
const MOST = 10

interface Account {
  readonly id: string
  readonly email: string
  readonly bearer: Readonly<Record<'authorization', string>>
}

/** Prepares the end of a session of a user. */
type Ending = (user: Account) => Promise<() => Promise<unknown>>

/** Everything that ends sessions of a user, in the first process of a fleet. */
function endings(fleet: Processes): Ending[] {
  const done = async (reply: Promise<Reply>) => expect((await reply).status).to.be.oneOf([200, 204])
  const post = (path: string, body?: unknown, headers?: Record<string, string>) =>
    done(fleet.post(0, path, body, headers))
  const list = async <T>(path: string): Promise<T[]> => (await fleet.get(0, path)).body
  const logIn = async ({ email }: Account, headers?: Record<string, string>) => {
    const { body } = await fleet.post(0, '/auth/login', { email, password: PASSWORD }, headers)
    return { authorization: `Bearer ${body.accessToken}` }
  }
  return [
    async ({ bearer }) =>
      () =>
        post('/auth/change-password', { current: PASSWORD, next: NEXT }, bearer),
    async ({ email }) => {
      const { length } = await list('/mails')
      await post('/auth/forgot-password', { email })
      while ((await list('/mails')).length === length);
      const token = (await list('/mails')).at(-1)
      return () => post('/auth/reset-password', { token, password: NEXT })
    },
    async (user) => {
      await logIn(user, { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0' })
      const find = async () => (await list<Link>('/links')).find(({ to }) => to === user.email)
      let link = await find()
      while (link === undefined) link = await find()
      const { token } = link
      return () => post('/auth/not-me', { token })
    },
    async (user) => {
      const other = await logIn(user)
      return () => done(fleet.delete(0, '/auth/sessions', other))
    },
    async ({ bearer }) =>
      () =>
        done(fleet.delete(0, `/auth/sessions/${claimsIn(bearer.authorization).sid}`, bearer)),
    async ({ bearer }) =>
      () =>
        done(fleet.delete(0, '/auth/account', bearer)),
    async ({ bearer }) =>
      () =>
        post('/auth/confirm', { password: PASSWORD }, bearer),
    async ({ bearer }) => {
      const { secret } = (await fleet.post(0, '/auth/totp', undefined, bearer)).body
      return () => post('/auth/totp/confirm', { code: totpCode(secret) }, bearer)
    },
    async (user) => () => Promise.all(Array.from({ length: MOST }, () => logIn(user))),
    ...['/disable', '/sign-out', '/command/disable', '/command/sign-out', '/command/delete'].map(
      (path): Ending =>
        async ({ id }) =>
        () =>
          post(`${path}/${id}`),
    ),
  ]
}

/** A mail of a feature. */
interface Link {
  readonly to: string
  readonly token: string
}

/** The claims of an access token. */
function claimsIn(token: string): { readonly sid: string } {
  return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
}

/** True if the database keeps the session of an access token. */
function isAlive(records: Records, token: string): Promise<boolean> {
  return records.hasSession(claimsIn(token).sid)
}

for (const [name, share] of Object.entries(SHARED_STORES))
  describe(`A session that ended, in several processes on one ${name} database`, function () {
    const open = share()
    let fleet: Processes
    let records: Records
    let number = 0
    before(async () => {
      ;({ fleet, records } = await open({ most: MOST }))
    })
    after(() => fleet.stop())

    const newcomer = async () => {
      const email = `ended${++number}@example.com`
      const reply = await fleet.post(0, '/auth/signup', { name: 'Ada', email, password: PASSWORD })
      expect(reply.status).to.equal(201)
      return {
        id: reply.body.user.id as string,
        email,
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

    it('is over in all of them after each way to end it, also when the account is deleted then', async () => {
      const users: Newcomer[] = []
      for (const prepare of endings(fleet)) {
        const user = await newcomer()
        await (
          await prepare(user)
        )()
        await records.deleteUser(user.id)
        users.push(user)
      }
      for (const user of users) await ended(1, user)
      const late = await fleet.join()
      for (const user of users) expect(await statusAt(late, user)).to.equal(401)
    })

    it('ends or begins whole for each login that meets it, in all of them and in one that starts later', async () => {
      const met: Reply[] = []
      const meet = async (prepare: Ending): Promise<void> => {
        for (let round = 0; round < ROUNDS; round++) {
          const user = await newcomer()
          const end = await prepare(user)
          const log = (n: number) => fleet.post(n, '/auth/login', { email: user.email, password: PASSWORD })
          const early = [0, 1, 2, 3].map(log)
          // The end begins when the first of them has begun its session.
          const ending = Promise.race(early).then(end)
          met.push(...(await Promise.all([...early, ...[4, 5, 6, 7].map(log)])))
          await ending
        }
      }
      await Promise.all(endings(fleet).map(meet))
      // What is published last is read last.
      const last = await newcomer()
      await fleet.post(0, '/auth/logout', undefined, { cookie: last.cookie })
      await ended(1, last)
      const late = await fleet.join()
      const tokens = met.filter(({ status }) => status === 200).map(({ body }) => body.accessToken)
      expect(tokens.length).to.be.greaterThan(4 * ROUNDS * endings(fleet).length)
      const judge = async (token: string): Promise<void> => {
        const bearer = { authorization: `Bearer ${token}` }
        const statuses = await Promise.all([0, 1, late].map((n) => fleet.get(n, '/auth/me', bearer)))
        const expected = (await isAlive(records, token)) ? 200 : 401
        expect(statuses.map(({ status }) => status)).to.deep.equal([expected, expected, expected])
      }
      await Promise.all(tokens.map(judge))
    })

    it('is refused by every process although its row is still there', async () => {
      const user = await newcomer()
      const [session] = await records.sessionsOf(user.id)
      await records.publishEnd(session!)
      await ended(0, user)
      const refreshed = await fleet.post(0, '/auth/refresh', undefined, { cookie: user.cookie })
      expect(refreshed.status).to.equal(401)
      expect(await records.sessionsOf(user.id)).to.deep.equal([])
    })
  })
