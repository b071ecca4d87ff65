import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { expect } from 'chai'
import { KINDS } from '../../database/databases.ts'
import { cookieOf } from '../acceptance/service.ts'
import { openFleet, type Processes } from './fleet.ts'
import { SHARED_STORES } from './shared-stores.ts'

let number = 0

/** A user who has signed up in the first process, and a ticket of that process for the event stream. */
async function ticketOfNewcomer(fleet: Processes) {
  const user = { name: 'Ada', email: `tickets${++number}@example.com`, password: 'the password at first' }
  const reply = await fleet.post(0, '/auth/signup', user)
  expect(reply.status, reply.text).to.equal(201)
  const bearer = { authorization: `Bearer ${reply.body.accessToken}` }
  const issued = await fleet.post(0, '/auth/ticket', { path: '/events' }, bearer)
  expect(issued.status, issued.text).to.equal(200)
  return { cookie: cookieOf(reply), ticket: issued.body.ticket as string }
}

async function openStream({ urls }: Processes, n: number, ticket: string): Promise<IncomingMessage> {
  const url = `${urls[n % urls.length]}/events?access_token=${encodeURIComponent(ticket)}`
  const [stream] = (await once(request(url, { agent: false }).end(), 'response')) as [IncomingMessage]
  return stream
}

for (const [name, prepare] of Object.entries(SHARED_STORES))
  describe(`A ticket of another process, on one ${name} database`, () => {
    const open = prepare()
    let fleet: Processes
    before(async () => {
      ;({ fleet } = await open())
    })
    after(() => fleet.stop())

    it('opens one stream of 32 that both processes are asked for, which ends with the session', async () => {
      const { cookie, ticket } = await ticketOfNewcomer(fleet)
      const streams = await Promise.all(Array.from({ length: 32 }, (_, n) => openStream(fleet, n, ticket)))
      const opened = streams.filter(({ statusCode }) => statusCode === 200)
      expect(opened).to.have.length(1)
      expect(streams.filter(({ statusCode }) => statusCode === 401)).to.have.length(31)
      expect(String((await once(opened[0]!, 'data'))[0])).to.equal('data: first\n\n')
      const closed = once(opened[0]!, 'close')
      const begun = performance.now()
      expect((await fleet.post(0, '/auth/logout', undefined, { cookie })).status).to.equal(204)
      await closed
      expect(performance.now() - begun).to.be.below(3000)
      expect(opened[0]!.complete).to.equal(true)
    })
  })

describe('A ticket of a process whose clock is a minute wrong', () => {
  const place = KINDS['SQLite']!()
  for (const skew of [-60_000, 60_000])
    it(`is valid in another process, by ${skew / 1000} s`, async () => {
      const fleet = await openFleet(place(), 2, { each: (n) => (n === 0 ? { skew } : {}) })
      try {
        const stream = await openStream(fleet, 1, (await ticketOfNewcomer(fleet)).ticket)
        expect(stream.statusCode).to.equal(200)
        stream.destroy()
      } finally {
        await fleet.stop()
      }
    })
})
