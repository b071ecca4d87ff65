import { expect } from 'chai'
import { defineBrick, value } from 'mortar'
import { onEachStore } from './support/on-each-store.ts'
import { ADA, eventually, resetTokenFor, signedUp } from './support/world.ts'

const NEXT = 'another horse battery'

onEachStore('POST /auth/forgot-password', (inWorld) => {
  it('answers the same for every address, and mails only a known one', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      const ask = (email: string) =>
        world.client().post('/auth/forgot-password', { email }, { 'x-request-id': 'same' })
      const [known, unknown] = [await ask('ADA@example.com'), await ask('eve@example.com')]
      expect(known.status).to.equal(200)
      expect(known.text).to.equal(unknown.text)
      const [first, second] = [known, unknown].map(({ headers }) =>
        Object.entries({ ...headers, date: 'any' }),
      )
      expect(first).to.deep.equal(second)
      await eventually(() => world.mails.length === 1)
      expect(world.mails[0]!.to).to.equal('ada@example.com')
    }))

  it('does not wait for the mail, and does not show that it failed', () =>
    inWorld(
      { auth: { sendResetEmail: () => new Promise(() => {}) }, app: { shutdownTimeout: '10ms' } },
      async (world) => {
        await signedUp(world)
        expect((await world.client().post('/auth/forgot-password', { email: ADA.email })).status).to.equal(
          200,
        )
      },
    ))

  it('reports a mail that failed without the token in it', () => {
    let token = ''
    const sendResetEmail = (_to: string, given: string) => {
      token = given
      throw new Error(`no route for ${given}`)
    }
    return inWorld({ auth: { sendResetEmail } }, async (world) => {
      await signedUp(world)
      expect((await world.client().post('/auth/forgot-password', { email: ADA.email })).status).to.equal(200)
      await eventually(() => world.typesOf().includes('auth.password.reset.mail.failed'))
      expect(token).to.have.length(43)
      expect(JSON.stringify(world.events)).to.not.include(token)
      expect(JSON.stringify(world.events)).to.include('no route for [token]')
    })
  })

  it('tells of a request that the queue of jobs has not accepted by one event', () => {
    const add = () => Promise.reject(new Error('The queue is away.'))
    const queue = defineBrick({ name: 'queue', services: { jobQueue: value({ define: () => add }) } })
    return inWorld({ bricks: [queue] }, async (world) => {
      expect((await world.client().post('/auth/forgot-password', { email: ADA.email })).status).to.equal(500)
      expect(world.events.map(({ type, event }) => [type, event['reason']])).to.deep.equal([
        ['auth.password.reset.request.failed', 'error'],
      ])
    })
  })

  it('keeps the newest 32 tokens valid, more than the limits let out in their lifetime', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      const tokens: string[] = []
      for (let count = 0; count < 34; count++) {
        world.clock.advance(1)
        tokens.push(await resetTokenFor(world))
      }
      expect(await world.storage.resetTokens()).to.have.length(32)
      const redeem = (token: string) => world.client().post('/auth/reset-password', { token, password: NEXT })
      expect((await redeem(tokens[1]!)).status).to.equal(401)
      expect((await redeem(tokens[2]!)).status).to.equal(200)
    }))

  it('leaves the link of the owner usable, however many a stranger asks for', () =>
    inWorld({ limited: true, app: { trustProxy: ['127.0.0.1'] } }, async (world) => {
      await signedUp(world)
      const token = await resetTokenFor(world)
      for (let window = 0; window < 2; window++) {
        for (let n = 0; n < 10; n++)
          await world
            .client()
            .post('/auth/forgot-password', { email: ADA.email }, { 'x-forwarded-for': `198.51.100.${n}` })
        world.clock.advance(895)
      }
      const answer = await world.client().post('/auth/reset-password', { token, password: NEXT })
      expect(answer.status, answer.text).to.equal(200)
    }))

  it('gives a browser that signed in before a budget of its own, shared by all of them', () =>
    inWorld({ limited: true, app: { trustProxy: ['127.0.0.1'] } }, async (world) => {
      const owner = await signedUp(world)
      const ask = (client: typeof owner, n: number) =>
        client.post('/auth/forgot-password', { email: ADA.email }, { 'x-forwarded-for': `198.51.100.${n}` })
      const statuses = []
      for (let n = 0; n < 6; n++) statuses.push((await ask(world.client(), n)).status)
      for (let n = 6; n < 10; n++) statuses.push((await ask(owner, n)).status)
      const second = world.client()
      await second.post('/auth/login', ADA, { 'x-forwarded-for': '192.0.2.9' })
      for (let n = 10; n < 12; n++) statuses.push((await ask(second, n)).status)
      expect(statuses).to.deep.equal([200, 200, 200, 200, 200, 429, 200, 200, 200, 200, 200, 429])
      await eventually(() => world.mails.length === 10)
    }))

  it('responds 422 to a string that is not an address', () =>
    inWorld({}, async ({ client }) => {
      expect((await client().post('/auth/forgot-password', { email: 'x' })).status).to.equal(422)
    }))
})
