import { expect } from 'chai'
import type { ConnectedPasswordProvider } from '@mortar/auth/basic'
import type { AccountMail } from '../../../plugins/auth/features/mails.ts'
import { failureOf } from './support/failure-of.ts'
import { onEachDatabase } from './support/on-each-store.ts'
import {
  ADA,
  inWorld as onSqlite,
  PASSWORD,
  settle,
  signedUp,
  type InWorld,
  type World,
} from './support/world.ts'

const GRACE = { name: ' Grace ', email: ' Grace@Example.com' }
const WEEK = 7 * 86_400

/** A world whose mails are collected. */
function collecting(inWorld: InWorld, body: (world: World, mails: AccountMail[]) => Promise<unknown>) {
  const mails: AccountMail[] = []
  return inWorld({ auth: { sendMail: (mail) => mails.push(mail) } }, (world) => body(world, mails))
}

const providerOf = ({ app }: World) =>
  (app.services as { authProvider: ConnectedPasswordProvider }).authProvider
const tokenIn = (mail?: AccountMail) => mail!.link!.split('/reset-password?token=')[1]!

onEachDatabase('invite', (inWorld) => {
  it('mails a link that sets the first password, and proves the address', () =>
    collecting(inWorld, async (world, mails) => {
      const user = await providerOf(world).invite(GRACE)
      expect(user).to.deep.include({ name: 'Grace', email: 'grace@example.com', emailVerified: false })
      await settle(world)
      expect(mails.map(({ kind, to }) => [kind, to])).to.deep.equal([['invitation', 'grace@example.com']])
      expect(mails[0]!.text).to.include('for 7 days')
      const client = world.client()
      for (const password of ['', PASSWORD])
        expect((await client.post('/auth/login', { email: GRACE.email, password })).status).to.be.oneOf([
          401, 422,
        ])
      world.clock.advance(WEEK - 1)
      const reset = { token: tokenIn(mails[0]), password: PASSWORD }
      expect((await client.post('/auth/reset-password', reset)).status).to.equal(200)
      expect((await client.post('/auth/reset-password', reset)).status).to.equal(401)
      await client.post('/auth/login', { email: GRACE.email, password: PASSWORD })
      expect((await client.get('/auth/me')).body.raw.email_verified_at).to.be.a('string')
    }))

  it('has its whole effect, or can be repeated, if the reply of any statement is lost', () =>
    collecting(inWorld, async (world, mails) => {
      let isReached = true
      for (let statement = 1; isReached; statement++) {
        const invitation = { name: 'Grace', email: `grace${statement}@example.com` }
        const fault = world.storage.interruptions.loseReply(statement)
        const isFailed = await providerOf(world)
          .invite(invitation)
          .then(
            () => false,
            () => true,
          )
        isReached = fault.reached()
        fault.restore()
        if (isFailed) await providerOf(world).invite(invitation)
        await settle(world)
        expect(mails.filter(({ to }) => to === invitation.email)).to.have.length(1)
      }
    }))

  it('has a link that no number of requests for another one ends', () =>
    collecting(inWorld, async (world, mails) => {
      await providerOf(world).invite(GRACE)
      for (let request = 0; request < 40; request++) {
        world.clock.advance(60)
        await world.client().post('/auth/forgot-password', { email: GRACE.email })
        await settle(world)
      }
      const reset = { token: tokenIn(mails[0]), password: PASSWORD }
      expect((await world.client().post('/auth/reset-password', reset)).status).to.equal(200)
    }))

  it('refuses input like signup does, and a taken address, and mails nothing then', () =>
    collecting(inWorld, async (world, mails) => {
      await signedUp(world)
      const failures = await Promise.all(
        [ADA, { name: '', email: 'nowhere' }].map((input) =>
          providerOf(world)
            .invite(input)
            .catch((error: { code: string }) => error.code),
        ),
      )
      expect(failures).to.deep.equal(['email_taken', 'validation_failed'])
      await settle(world)
      expect([mails, (await world.storage.users()).length]).to.deep.equal([[], 1])
    }))

  it('can be repeated when its link could not be stored', () =>
    collecting(inWorld, async (world, mails) => {
      world.storage.interruptions.reject('insert reset tokens', 'disk full', 1)
      const error = await failureOf(() => providerOf(world).invite(GRACE))
      expect(error.message).to.include('disk full')
      await settle(world)
      expect([mails, await world.storage.users()]).to.deep.equal([[], []])
      await providerOf(world).invite(GRACE)
      await settle(world)
      expect(mails).to.have.length(1)
    }))

  it('of a process that ends in between leaves an account to which a forgotten password mails a link', () =>
    collecting(inWorld, async (world, mails) => {
      world.storage.interruptions.afterwards('insert users', async () =>
        world.storage.interruptions.failAlways(),
      )
      await failureOf(() => providerOf(world).invite(GRACE))
      world.storage.interruptions.failAt(0)
      expect(await failureOf(() => providerOf(world).invite(GRACE))).to.have.property('code', 'email_taken')
      await world.client().post('/auth/forgot-password', { email: GRACE.email })
      await settle(world)
      expect([mails.length, world.mails.length]).to.deep.equal([0, 1])
      const reset = { token: world.mails[0]!.token, password: PASSWORD }
      expect((await world.client().post('/auth/reset-password', reset)).status).to.equal(200)
    }))

  it('has a link that ends after seven days; a forgotten password brings another one', () =>
    collecting(inWorld, async (world, mails) => {
      await providerOf(world).invite(GRACE)
      await settle(world)
      world.clock.advance(WEEK)
      const client = world.client()
      const late = await client.post('/auth/reset-password', { token: tokenIn(mails[0]), password: PASSWORD })
      expect(late.status).to.equal(401)
      await client.post('/auth/forgot-password', { email: GRACE.email })
      await settle(world)
      const reset = { token: world.mails.at(-1)!.token, password: PASSWORD }
      expect((await client.post('/auth/reset-password', reset)).status).to.equal(200)
    }))
})

describe('invite', () => {
  it('stores no account whose link would have no address to begin with', () =>
    onSqlite({ app: { environment: 'production' }, auth: { cost: {} } }, async (world) => {
      const error = await providerOf(world)
        .invite(GRACE)
        .catch((caught: { code?: string }) => caught)
      expect(error).to.have.property('code', 'MORTAR_AUTH_APP_URL')
      expect(await world.storage.users()).to.deep.equal([])
    }))
})
