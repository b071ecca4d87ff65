import { once } from 'node:events'
import { expect } from 'chai'
import { WebSocket } from 'ws'
import { cookieOf } from '../acceptance/service.ts'
import type { Processes } from './fleet.ts'
import { SHARED_STORES } from './shared-stores.ts'

/** Sockets that end, ten for each round; `TEST_STREAM_ROUNDS=20` for a longer look, with the times on standard output. */
const ROUNDS = Number(process.env['TEST_STREAM_ROUNDS'] ?? 1)
let number = 0

/** A user who has signed up in the first process, with a socket in the second one. */
async function newcomer(fleet: Processes) {
  const user = { name: 'Ada', email: `sockets${++number}@example.com`, password: 'the password at first' }
  const reply = await fleet.post(0, '/auth/signup', user)
  expect(reply.status, reply.text).to.equal(201)
  const headers = { authorization: `Bearer ${reply.body.accessToken}` }
  const socket = new WebSocket(`${fleet.urls[1]!.replace('http', 'ws')}/socket`, { headers })
  await once(socket, 'open')
  return { cookie: cookieOf(reply), socket }
}

for (const [name, prepare] of Object.entries(SHARED_STORES))
  describe(`Sockets in another process, on one ${name} database`, function () {
    this.timeout(60_000 + ROUNDS * 20_000)
    const open = prepare()
    let fleet: Processes
    before(async () => {
      ;({ fleet } = await open())
    })
    after(() => fleet.stop())

    it('end with the session of their users, each with 4401, and no other socket ends', async () => {
      const other = await newcomer(fleet)
      const times: number[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const users = await Promise.all(Array.from({ length: 10 }, () => newcomer(fleet)))
        await Promise.all(
          users.map(async ({ cookie, socket }) => {
            const closed = once(socket, 'close').then(([code, reason]) => [code, String(reason)])
            expect((await fleet.post(0, '/auth/logout', undefined, { cookie })).status).to.equal(204)
            const begun = performance.now()
            expect(await closed).to.deep.equal([4401, 'session_ended'])
            times.push(performance.now() - begun)
          }),
        )
      }
      expect(other.socket.readyState).to.equal(WebSocket.OPEN)
      other.socket.terminate()
      const sorted = times.toSorted((a, b) => a - b)
      expect(sorted.at(-1)).to.be.below(3000)
      if (ROUNDS > 1)
        console.log(
          `${name}: median ${Math.round(sorted[sorted.length >> 1]!)} ms, longest ${Math.round(sorted.at(-1)!)} ms, ` +
            `${sorted.filter((time) => time > 1100).length} of ${sorted.length} above 1.1 s`,
        )
    })
  })
