import { expect } from 'chai'
import { notices } from '@mortar/auth/notices'
import type { AccountMail } from '../../../../plugins/auth/features/mails.ts'
import { Client } from '../support/client.ts'
import { onEachDatabase } from '../support/on-each-store.ts'
import {
  ADA,
  inWorld as onSqlite,
  PASSWORD,
  resetTokenFor,
  settle,
  signedUp,
  type InWorld,
  type World,
  type WorldOptions,
} from '../support/world.ts'

const FIREFOX = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0' }
const NEXT = 'another horse battery'

/** A world whose mails of features are collected. */
function collecting(inWorld: InWorld, body: (world: World, mails: AccountMail[]) => Promise<unknown>) {
  const mails: AccountMail[] = []
  const options: WorldOptions = {
    withFeatures: true,
    auth: { features: [notices()], sendMail: (mail) => mails.push(mail) },
  }
  return inWorld(options, (world) => body(world, mails))
}

const kindsOf = async (world: World, mails: readonly AccountMail[]) => {
  await settle(world)
  return mails.map(({ kind }) => kind)
}

onEachDatabase('notices()', (inWorld) => {
  it('tell of a login from a new browser once in 30 days, and of no other login', () =>
    collecting(inWorld, async (world, mails) => {
      const client = await signedUp(world)
      await client.post('/auth/login', ADA)
      await world.client().post('/auth/login', ADA)
      expect(await kindsOf(world, mails)).to.deep.equal([])
      await world.client().post('/auth/login', ADA, FIREFOX)
      await world.client().post('/auth/login', ADA, FIREFOX)
      expect(await kindsOf(world, mails)).to.deep.equal(['new-browser'])
      expect(mails[0]).to.include({ to: ADA.email })
      expect(mails[0]!.text).to.include('Firefox on Linux, address 127.0.0.1')
      world.clock.advance(29 * 86_400)
      await world.client().post('/auth/login', ADA, FIREFOX)
      world.clock.advance(29 * 86_400)
      await world.client().post('/auth/login', ADA, FIREFOX)
      expect(await kindsOf(world, mails)).to.have.length(1)
      world.clock.advance(30 * 86_400)
      await world.client().post('/auth/login', ADA, FIREFOX)
      await world.client().post('/auth/login', ADA, FIREFOX)
      expect(await kindsOf(world, mails)).to.have.length(2)
    }))

  it('send one mail for 20 simultaneous logins from a new browser', () =>
    collecting(inWorld, async (world, mails) => {
      await signedUp(world)
      const logins = () =>
        Promise.all(Array.from({ length: 20 }, () => world.client().post('/auth/login', ADA, FIREFOX)))
      const answers = await logins()
      expect(answers.every(({ status }) => status === 200)).to.equal(true)
      expect(await kindsOf(world, mails)).to.deep.equal(['new-browser'])
      world.clock.advance(31 * 86_400)
      await logins()
      expect(await kindsOf(world, mails)).to.have.length(2)
    }))

  it('tell of each new password', () =>
    collecting(inWorld, async (world, mails) => {
      const client = await signedUp(world)
      await client.post('/auth/change-password', { current: PASSWORD, next: NEXT })
      expect(await kindsOf(world, mails)).to.deep.equal(['password-changed'])
      await client.post('/auth/change-password', { current: 'wrong horse', next: PASSWORD })
      const token = await resetTokenFor(world)
      await world.client().post('/auth/reset-password', { token, password: 'yet another horse' })
      expect(await kindsOf(world, mails)).to.deep.equal(['password-changed', 'password-changed'])
    }))
})

describe('notices()', () => {
  it('have no word of the client in a mail', () =>
    collecting(onSqlite, async (world, mails) => {
      await signedUp(world)
      const agent = 'Firefox/1 <img src=x onerror=alert(1)> Linux, Bcc: eve@example.com'
      await world.client().post('/auth/login', ADA, { 'user-agent': agent })
      await settle(world)
      expect(mails).to.have.length(1)
      expect(JSON.stringify(mails)).to.not.match(/onerror|eve@example/)
    }))

  it('report a mail that cannot be sent, and the login succeeds', () => {
    const auth: WorldOptions['auth'] = {
      features: [notices()],
      sendMail: () => Promise.reject(new Error('no mail today')),
    }
    return onSqlite({ withFeatures: true, auth }, async (world) => {
      await signedUp(world)
      expect((await world.client().post('/auth/login', ADA, FIREFOX)).status).to.equal(200)
      await settle(world)
      const { event } = world.events.find(({ type }) => type === 'auth.mail.failed')!
      expect(event).to.include({ kind: 'new-browser', error: 'Error: no mail today' })
    })
  })

  it('know a browser by its device cookie, whatever its network and name', () =>
    collecting(onSqlite, async (world, mails) => {
      const client = await signedUp(world)
      const other = new Client(world.app)
      for (const [name, value] of client.cookies) if (name.includes('device')) other.cookies.set(name, value)
      await other.post('/auth/login', ADA, FIREFOX)
      expect(await kindsOf(world, mails)).to.deep.equal([])
    }))
})
