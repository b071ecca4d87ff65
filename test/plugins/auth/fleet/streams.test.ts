import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { expect } from 'chai'
import { cookieOf } from '../acceptance/service.ts'
import type { Processes } from './fleet.ts'
import { SHARED_STORES } from './shared-stores.ts'

const PASSWORD = 'the password at first'
/** Rounds of each way to end a session; `TEST_STREAM_ROUNDS=50` for a longer look, with the times on standard output. */
const ROUNDS = Number(process.env['TEST_STREAM_ROUNDS'] ?? 1)

interface User {
  readonly id: string
  readonly cookie: string
  readonly bearer: { readonly authorization: string }
}

/** Everything that ends the session of a user, in the first process. */
const WAYS: Readonly<Record<string, (fleet: Processes, user: User) => Promise<{ readonly status: number }>>> =
  {
    'a logout': (fleet, { cookie }) => fleet.post(0, '/auth/logout', undefined, { cookie }),
    'a new password': (fleet, { bearer }) =>
      fleet.post(0, '/auth/change-password', { current: PASSWORD, next: 'another horse battery' }, bearer),
    signOut: (fleet, { id }) => fleet.post(0, `/sign-out/${id}`),
    'a disabled account': (fleet, { id }) => fleet.post(0, `/disable/${id}`),
  }

/** Opens the event stream of a user in the second process, and waits for its first event. */
async function openStream({ urls }: Processes, { bearer }: User): Promise<IncomingMessage> {
  const outgoing = request(`${urls[1]}/events`, { headers: bearer, agent: false }).end()
  const [stream] = (await once(outgoing, 'response')) as [IncomingMessage]
  expect(stream.statusCode).to.equal(200)
  expect(String((await once(stream, 'data'))[0])).to.equal('data: first\n\n')
  return stream
}

for (const [name, prepare] of Object.entries(SHARED_STORES))
  describe(`An event stream in another process, on one ${name} database`, function () {
    this.timeout(60_000 + ROUNDS * 20_000)
    const open = prepare()
    let fleet: Processes
    let number = 0
    before(async () => {
      ;({ fleet } = await open())
    })
    after(() => fleet.stop())

    const newcomer = async (): Promise<User> => {
      const user = { name: 'Ada', email: `streams${++number}@example.com`, password: PASSWORD }
      const reply = await fleet.post(0, '/auth/signup', user)
      expect(reply.status).to.equal(201)
      const bearer = { authorization: `Bearer ${reply.body.accessToken}` }
      return { id: reply.body.user.id, cookie: cookieOf(reply), bearer }
    }

    for (const [way, end] of Object.entries(WAYS))
      it(`ends complete with ${way}, its signal aborts, and the stream of another user goes on`, async () => {
        const times: number[] = []
        for (let round = 0; round < ROUNDS; round++) {
          const [user, other] = [await newcomer(), await newcomer()]
          const [stream, othersStream] = [await openStream(fleet, user), await openStream(fleet, other)]
          const before = (await fleet.get(1, '/aborts')).body as number
          const closed = once(stream, 'close').then(() => performance.now())
          expect((await end(fleet, user)).status).to.be.oneOf([200, 204])
          const began = performance.now()
          times.push((await closed) - began)
          expect([stream.complete, othersStream.closed]).to.deep.equal([true, false])
          expect((await fleet.get(1, '/aborts')).body).to.equal(before + 1)
          expect((await fleet.get(1, '/auth/me', user.bearer)).status).to.equal(401)
          othersStream.destroy()
        }
        if (ROUNDS > 1) console.log(`${name}, ${way}: ${summaryOf(times)}`)
      })
  })

function summaryOf(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b).map(Math.round)
  const late = sorted.filter((time) => time > 1100).length
  return `median ${sorted[sorted.length >> 1]} ms, longest ${sorted.at(-1)} ms, ${late} of ${sorted.length} above 1.1 s`
}
