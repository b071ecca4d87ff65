import { expect } from 'chai'
import { notices } from '@mortar/auth/notices'
import type { AccountMail } from '../../../../plugins/auth/features/mails.ts'
import { Client } from '../support/client.ts'
import { onEachDatabase } from '../support/on-each-store.ts'
import { enrolled, WITH_TOTP } from '../support/second-factor.ts'
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
import { provider, tokenIn } from './support/account-scene.ts'

const FIREFOX = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0' }
const NEXT = 'another horse battery'
const CHANGE = { current: PASSWORD, next: NEXT }

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
      // The browser of another user is new to this one.
      await world.client().post('/auth/signup', { ...ADA, email: 'eve@example.com' }, FIREFOX)
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

  it('have a link that ends every session and starts a reset, once, whatever an intruder does before', () =>
    collecting(inWorld, async (world, mails) => {
      const owner = await signedUp(world)
      const intruder = world.client()
      await intruder.post('/auth/login', ADA, FIREFOX)
      await settle(world)
      await intruder.post('/auth/change-password', { current: PASSWORD, next: NEXT })
      await settle(world)
      const { link } = mails[0]!
      const { pathname, hash } = new URL(link!)
      const token = new URLSearchParams(hash.slice(1)).get('token')
      for (let visit = 0; visit < 3; visit++)
        expect((await world.client().get(pathname)).status).to.equal(200)
      expect((await intruder.get('/private')).status).to.equal(200)
      const before = world.mails.length
      const uses = await Promise.all(
        Array.from({ length: 32 }, () => world.client().post(pathname, { token })),
      )
      expect(uses.filter(({ status }) => status === 200)).to.have.length(1)
      expect(uses.filter(({ body }) => body.code === 'invalid_link')).to.have.length(31)
      for (const client of [owner, intruder]) {
        expect((await client.get('/private')).status).to.equal(401)
        expect((await client.post('/auth/refresh')).status).to.equal(401)
      }
      await settle(world)
      expect(world.mails.length - before).to.equal(1)
      const reset = { token: world.mails.at(-1)!.token, password: 'the owner is back again' }
      expect((await world.client().post('/auth/reset-password', reset)).status).to.equal(200)
      expect(world.typesOf()).to.include.members(['auth.notice.denied', 'auth.notice.deny.failed'])
      const rows = await world.storage.rows('auth_challenges')
      expect(JSON.stringify(rows)).to.not.include(token)
    }))

  it('have a link that works, or no session lives, wherever the process that uses it ends', () =>
    collecting(inWorld, async (world, mails) => {
      let isReached = true
      for (let statement = 1; isReached; statement++) {
        const user = { ...ADA, email: `ada${statement}@example.com` }
        await world.client().post('/auth/signup', user)
        const intruder = world.client()
        await intruder.post('/auth/login', user, FIREFOX)
        await settle(world)
        const deny = () => world.client().post('/auth/not-me', { token: tokenIn(mails.at(-1)!.link!) })
        const fault = world.storage.interruptions.failFrom(statement)
        await deny()
        isReached = fault.reached()
        fault.restore()
        await deny()
        expect((await intruder.post('/auth/refresh')).status, `statement ${statement}`).to.equal(401)
      }
    }))

  it('have a link that keeps out whoever knows the password, until its owner sets another one', () =>
    collecting(inWorld, async (world, mails) => {
      await signedUp(world)
      const intruder = world.client()
      await intruder.post('/auth/login', ADA, FIREFOX)
      await settle(world)
      const { status } = await world.client().post('/auth/not-me', { token: tokenIn(mails[0]!.link!) })
      expect(status).to.equal(200)
      // With a session the intruder could change the password, which ends the link of the reset.
      expect((await intruder.post('/auth/login', ADA, FIREFOX)).status).to.equal(401)
      await settle(world)
      const reset = { token: world.mails.at(-1)!.token, password: NEXT }
      expect((await world.client().post('/auth/reset-password', reset)).status).to.equal(200)
      expect((await world.client().post('/auth/login', { ...ADA, password: NEXT })).status).to.equal(200)
    }))

  const ENDS: [name: string, end: (world: World, owner: Client) => Promise<unknown>][] = [
    ['a change of the password', (_world, owner) => owner.post('/auth/change-password', CHANGE)],
    [
      'a reset',
      async (world, owner) =>
        owner.post('/auth/reset-password', { token: await resetTokenFor(world), password: NEXT }),
    ],
    [
      'signOut',
      async (world) => {
        const [{ id }] = await world.storage.users()
        await provider(world).signOut(id)
      },
    ],
  ]
  for (const [name, end] of ENDS)
    it(`forget the browsers of before with ${name}, also by their device cookies, but not the browser of its caller`, () =>
      collecting(inWorld, async (world, mails) => {
        const owner = await signedUp(world)
        const intruder = world.client()
        for (let time = 0; time < 2; time++) await intruder.post('/auth/login', ADA, FIREFOX)
        expect(await kindsOf(world, mails)).to.deep.equal(['new-browser'])
        await end(world, owner)
        await settle(world)
        mails.length = 0
        const password = name === 'signOut' ? PASSWORD : NEXT
        const logIn = (client: Client, headers = {}) =>
          client.post('/auth/login', { ...ADA, password }, headers)
        expect((await logIn(intruder, FIREFOX)).status).to.equal(200)
        expect(await kindsOf(world, mails)).to.deep.equal(['new-browser'])
        await logIn(intruder, FIREFOX)
        if (name !== 'signOut') for (const client of [owner, world.client()]) await logIn(client)
        expect(await kindsOf(world, mails)).to.have.length(1)
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

  it('are mailed without a link that cannot be stored', () =>
    collecting(inWorld, async (world, mails) => {
      const client = await signedUp(world)
      // Statements without a kind are those of features.
      world.storage.interruptions.gate = (statement) =>
        statement === undefined ? Promise.reject(new Error('A disk is full.')) : undefined
      const { status } = await client.post('/auth/change-password', { current: PASSWORD, next: NEXT })
      expect([status, await kindsOf(world, mails)]).to.deep.equal([200, ['password-changed']])
      expect(mails[0]!.link).to.equal(undefined)
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

  it('keep a link valid whose request the database has failed', () =>
    collecting(onSqlite, async (world, mails) => {
      await signedUp(world)
      await world.client().post('/auth/login', ADA, FIREFOX)
      await settle(world)
      const token = new URLSearchParams(new URL(mails[0]!.link!).hash.slice(1)).get('token')
      const use = async () => (await world.client().post('/auth/not-me', { token })).status
      world.storage.interruptions.reject('update users', 'disk I/O error', 1)
      expect(await use()).to.equal(500)
      expect(await use()).to.equal(200)
    }))

  it('refuse a link after seven days, of a disabled account, and that was not issued', () =>
    collecting(onSqlite, async (world, mails) => {
      await signedUp(world)
      await world.client().post('/auth/login', ADA, FIREFOX)
      await settle(world)
      const token = new URLSearchParams(new URL(mails[0]!.link!).hash.slice(1)).get('token')
      const use = async (each: unknown) => (await world.client().post('/auth/not-me', { token: each })).status
      expect(await use('x'.repeat(43))).to.equal(401)
      await world.storage.changeUsers({ disabled_at: new Date(world.clock.now()) })
      expect(await use(token)).to.equal(401)
      await world.storage.changeUsers({ disabled_at: null })
      world.clock.advance(7 * 86_400)
      expect(await use(token)).to.equal(401)
    }))

  it('mail the reset link again if the mail server has failed', () => {
    const mails: AccountMail[] = []
    const sent: string[] = []
    const sendResetEmail = (to: string) => {
      sent.push(to)
      if (sent.length === 1) throw new Error('The mail server is away.')
    }
    const sendMail = (mail: AccountMail) => mails.push(mail)
    const options: WorldOptions = {
      withFeatures: true,
      auth: { features: [notices()], sendMail, sendResetEmail },
    }
    return onSqlite(options, async (world) => {
      await signedUp(world)
      await world.client().post('/auth/login', ADA, FIREFOX)
      await settle(world)
      const token = new URLSearchParams(new URL(mails[0]!.link!).hash.slice(1)).get('token')
      expect((await world.client().post('/auth/not-me', { token })).status).to.equal(200)
      await settle(world)
      expect(sent).to.deep.equal([ADA.email])
      // The end of the process sends what waits.
      await provider(world).flows.close()
      expect(sent).to.deep.equal([ADA.email, ADA.email])
      expect(world.typesOf().filter((type) => type === 'auth.password.reset.mail.failed')).to.have.length(1)
    })
  })

  it('mail no reset link to an account that is disabled meanwhile', () =>
    collecting(onSqlite, async (world, mails) => {
      await signedUp(world)
      await world.client().post('/auth/login', ADA, FIREFOX)
      await settle(world)
      const token = new URLSearchParams(new URL(mails[0]!.link!).hash.slice(1)).get('token')
      expect((await world.client().post('/auth/not-me', { token })).status).to.equal(200)
      await world.storage.changeUsers({ disabled_at: new Date(world.clock.now()) })
      await settle(world)
      expect(world.mails).to.deep.equal([])
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

  it('know it by its device cookie through both steps of a login', () => {
    const mails: AccountMail[] = []
    const features = [...WITH_TOTP.auth!.features!, notices()]
    const options = { ...WITH_TOTP, auth: { features, sendMail: (mail: AccountMail) => mails.push(mail) } }
    return onSqlite(options, async (world) => {
      const { client, next } = await enrolled(world)
      const login = async (browser: Client, headers = FIREFOX) => {
        const { body } = await browser.post('/auth/login', ADA, headers)
        const step = { challenge: body.challenge, code: next() }
        expect((await browser.post('/auth/login/factor', step, headers)).status).to.equal(200)
      }
      await login(client)
      // The browser that has set the authenticator up, which has lost its cookies.
      await login(world.client(), {} as typeof FIREFOX)
      expect(await kindsOf(world, mails)).to.deep.equal(['factor-added'])
      await login(world.client())
      expect(await kindsOf(world, mails)).to.deep.equal(['factor-added', 'new-browser'])
    })
  })
})
