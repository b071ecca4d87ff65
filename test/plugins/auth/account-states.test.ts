import { expect } from 'chai'
import type { ConnectedPasswordProvider } from '@mortar/auth/basic'
import { emailVerification } from '@mortar/auth/email-verification'
import { recent } from '@mortar/auth/recent'
import { StartupError } from 'mortar'
import { signedIn } from 'mortar/testing'
import { onEachStore } from './support/on-each-store.ts'
import {
  ADA,
  inWorld as inAnyWorld,
  PASSWORD,
  resetTokenFor,
  signedUp,
  type World,
  type WorldOptions,
} from './support/world.ts'

const providerOf = ({ app }: World) =>
  (app.services as { authProvider: ConnectedPasswordProvider }).authProvider
const NEXT = 'another horse battery'
const VERIFIED_ONLY: WorldOptions = {
  withFeatures: true,
  auth: {
    features: [recent(), emailVerification({ uniformSignup: true, verifiedOnly: true })],
    sendMail: () => undefined,
  },
}

onEachStore('A disabled account', (inWorld) => {
  it('is refused like a wrong password, and by its sessions and reset tokens', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const { id } = (await client.get('/auth/me')).body
      const token = await resetTokenFor(world)
      const wrong = await world.client().post('/auth/login', { ...ADA, password: 'wrong horse battery' })
      expect(await providerOf(world).disable(id)).to.equal(true)
      const right = await world.client().post('/auth/login', ADA)
      expect([right.status, right.text]).to.deep.equal([401, wrong.text])
      expect((await client.get('/private')).status).to.equal(401)
      expect((await client.post('/auth/refresh')).status).to.equal(401)
      const reset = await world.client().post('/auth/reset-password', { token, password: NEXT })
      expect(reset.status).to.equal(401)
      expect(await providerOf(world).enable(id)).to.equal(true)
      expect((await world.client().post('/auth/login', ADA)).status).to.equal(200)
      expect((await client.post('/auth/refresh')).status).to.equal(401)
      expect(await providerOf(world).disable('nobody')).to.equal(false)
    }))

  it('is refused like a wrong password although its address is not proven', () =>
    inWorld(VERIFIED_ONLY, async (world) => {
      await world.client().post('/auth/signup', ADA)
      await providerOf(world).flows.settled()
      expect((await world.client().post('/auth/login', ADA)).body.code).to.equal('email_unverified')
      const wrong = await world.client().post('/auth/login', { ...ADA, password: NEXT })
      const [{ id }] = await world.storage.users()
      await providerOf(world).disable(id)
      const right = await world.client().post('/auth/login', ADA)
      expect([right.status, right.text]).to.deep.equal([401, wrong.text])
    }))

  it('is refused with the next request under freshSession, whoever disabled it', () =>
    inWorld({ auth: { freshSession: true } }, async (world) => {
      const client = await signedUp(world)
      await world.storage.changeUsers({ disabled_at: new Date(world.clock.now()) })
      expect((await client.get('/private')).status).to.equal(401)
    }))

  it('keeps its password, also of a session whose end this process has not read yet', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      await world.storage.changeUsers({ disabled_at: new Date(world.clock.now()) })
      const answer = await client.post('/auth/change-password', { current: PASSWORD, next: NEXT })
      expect([answer.status, answer.body.code]).to.deep.equal([401, 'invalid_token'])
      await world.storage.changeUsers({ disabled_at: null })
      expect((await world.client().post('/auth/login', ADA)).status).to.equal(200)
    }))

  it('has no access token after its deletion, and no stored reset token, whoever disabled it', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const { id } = (await client.get('/auth/me')).body
      await resetTokenFor(world)
      await world.storage.changeUsers({ disabled_at: new Date(world.clock.now()) })
      expect((await client.get('/private')).status).to.equal(200)
      expect(await providerOf(world).deleteUser(id)).to.equal(true)
      expect((await client.get('/private')).status).to.equal(401)
      expect(await world.storage.resetTokens()).to.deep.equal([])
    }))

  it('gets no mail with a reset link', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      await providerOf(world).disable((await client.get('/auth/me')).body.id)
      expect((await world.client().post('/auth/forgot-password', { email: ADA.email })).status).to.equal(200)
      await providerOf(world).flows.settled()
      expect(world.mails).to.deep.equal([])
    }))
})

onEachStore('freshSession', (inWorld) => {
  it('refuses the access token of a session that another process has ended', () =>
    inWorld({ file: true }, async (early) => {
      const client = await signedUp(early)
      await inWorld({ file: early.file, auth: { freshSession: true } }, async (world) => {
        const elsewhere = client.copy(world.app)
        expect((await elsewhere.get('/private')).status).to.equal(200)
        await client.post('/auth/logout')
        expect((await elsewhere.get('/private')).status).to.equal(401)
      })
    }))

  it('lets the testing kit sign in a user who is stored', () =>
    inWorld({ auth: { freshSession: true } }, async (world) => {
      const { id } = (await (await signedUp(world)).get('/auth/me')).body
      const client = await signedIn(world.app, { id, name: 'Ada', raw: {} })
      expect((await client.get('/private')).body).to.deep.equal({ id })
    }))
})

onEachStore('A session with idleTimeout', (inWorld) => {
  it('ends when it was not refreshed for so long, and each refresh begins the time anew', () =>
    inWorld({ auth: { idleTimeout: '7d' } }, async (world) => {
      const client = await signedUp(world)
      for (const seconds of [7 * 86_400, 7 * 86_400]) {
        world.clock.advance(seconds)
        expect((await client.post('/auth/refresh')).status).to.equal(200)
      }
      world.clock.advance(7 * 86_400 + 1)
      expect((await client.post('/auth/refresh')).status).to.equal(401)
    }))
})

describe('A session', () => {
  it('that was never refreshed ends after idleTimeout too', () =>
    inAnyWorld({ auth: { idleTimeout: '7d' } }, async (world) => {
      const client = await signedUp(world)
      world.clock.advance(7 * 86_400 + 1)
      expect((await client.post('/auth/refresh')).status).to.equal(401)
    }))

  it('has no access token that is valid longer, neither of its login nor of its last refresh', () =>
    inAnyWorld({ auth: { refreshTokenLifetime: '20m' } }, async (world) => {
      const client = await signedUp(world)
      expect((await client.post('/auth/login', ADA)).body.expiresIn).to.equal(900)
      world.clock.advance(800.5)
      expect((await client.post('/auth/refresh')).body.expiresIn).to.equal(400)
      world.clock.advance(399)
      expect((await client.post('/auth/refresh')).body.expiresIn).to.equal(1)
      expect((await client.get('/private')).status).to.equal(200)
      world.clock.advance(0.5)
      expect((await client.get('/private')).status).to.equal(401)
    }))

  it('has a cookie that a browser keeps until its last second, rounded up', () =>
    inAnyWorld({}, async (world) => {
      const client = await signedUp(world)
      world.clock.advance(0.5)
      expect((await client.post('/auth/refresh')).setCookie).to.include('Max-Age=2592000;')
    }))

  for (const way of ['signOut', 'disable'] as const)
    it(`has no living access token after ${way}, even when clearing up fails, which is logged`, () =>
      inAnyWorld({}, async (world) => {
        const client = await signedUp(world)
        const { id } = (await client.get('/auth/me')).body
        await providerOf(world).flows.settled()
        const warnings: unknown[][] = []
        const { logger } = world.app.services as unknown as { logger: { warn: (...args: unknown[]) => void } }
        logger.warn = (...args) => void warnings.push(args)
        const { interruptions } = world.storage
        interruptions.afterwards('update users', async () =>
          interruptions.reject('select sessions', 'disk full', 2),
        )
        await providerOf(world)[way](id)
        expect((await client.get('/private')).status).to.equal(401)
        expect(warnings).to.deep.equal([
          [
            { userId: id, reason: 'disk full' },
            'Sessions and reset tokens that have ended could not be deleted: disk full',
          ],
        ])
      }))
})

onEachStore('maxSessions', (inWorld) => {
  it('ends the oldest session with the login that goes beyond it', () =>
    inWorld({ auth: { maxSessions: 2 } }, async (world) => {
      const clients = [await signedUp(world), world.client(), world.client()]
      for (const client of clients.slice(1)) {
        world.clock.advance(1)
        await client.post('/auth/login', ADA)
      }
      const statuses = await Promise.all(clients.map(async (client) => (await client.get('/private')).status))
      expect(statuses).to.deep.equal([401, 200, 200])
      expect(await world.storage.sessions()).to.have.length(2)
    }))

  it('keeps the session of a login whose process has a clock that is behind', () =>
    inWorld({ auth: { maxSessions: 1 } }, async (world) => {
      const [earlier, later] = [await signedUp(world), world.client()]
      world.clock.advance(-30)
      await later.post('/auth/login', ADA)
      const statuses = await Promise.all([earlier, later].map((each) => each.post('/auth/refresh')))
      expect(statuses.map(({ status }) => status)).to.deep.equal([401, 200])
    }))

  it('counts no session that a login of the same browser replaces', () =>
    inWorld({ auth: { maxSessions: 2 } }, async (world) => {
      const [other, browser] = [await signedUp(world), world.client()]
      for (let login = 0; login < 3; login++) {
        world.clock.advance(1)
        await browser.post('/auth/login', ADA)
      }
      expect((await other.get('/private')).status).to.equal(200)
      expect((await browser.get('/private')).status).to.equal(200)
    }))

  it('counts the sessions that code of the application begins', () =>
    inWorld({ auth: { maxSessions: 2, freshSession: true } }, async (world) => {
      const oldest = await signedUp(world)
      const { id } = (await oldest.get('/auth/me')).body
      for (let issued = 0; issued < 2; issued++) {
        world.clock.advance(1)
        expect((await (await signedIn(world.app, { id })).get('/private')).status).to.equal(200)
      }
      expect((await oldest.get('/private')).status).to.equal(401)
      expect(await world.storage.sessions()).to.have.length(2)
    }))
})

onEachStore('A reset token', (inWorld) => {
  const redeem = (world: World, token: string) =>
    world.client().post('/auth/reset-password', { token, password: NEXT })

  it('ends with signOut', () =>
    inWorld({}, async (world) => {
      const { id } = (await (await signedUp(world)).get('/auth/me')).body
      const token = await resetTokenFor(world)
      await providerOf(world).signOut(id)
      expect((await redeem(world, token)).status).to.equal(401)
    }))

  it('ends with a change of the password whose clearing up fails', () =>
    inWorld({}, async (world) => {
      const client = await signedUp(world)
      const token = await resetTokenFor(world)
      world.storage.interruptions.reject('delete reset tokens', 'disk', 2)
      const change = await client.post('/auth/change-password', { current: PASSWORD, next: NEXT })
      expect(change.status).to.equal(200)
      expect(await world.storage.resetTokens()).to.have.length(1)
      expect((await redeem(world, token)).status).to.equal(401)
    }))

  it('proves the address when it is redeemed', () =>
    inWorld({}, async (world) => {
      await signedUp(world)
      expect((await redeem(world, await resetTokenFor(world))).status).to.equal(200)
      const client = world.client()
      await client.post('/auth/login', { ...ADA, password: NEXT })
      expect((await client.get('/auth/me')).body.raw.email_verified_at).to.equal(
        new Date(world.clock.now()).toISOString(),
      )
    }))
})

describe('Options of sessions', () => {
  for (const [option, value, code] of [
    ['maxSessions', 0, 'MORTAR_OPTION_TYPE'],
    ['idleTimeout', 1, 'MORTAR_AUTH_OPTION'],
  ] as const)
    it(`${option}: ${value} is a start error that names it`, async () => {
      const error: unknown = await inAnyWorld({ auth: { [option]: value } }, async () => {}).catch((e) => e)
      expect(error).to.be.instanceOf(StartupError).with.property('code', code)
      expect((error as Error).message).to.include(option)
    })
})
