import { expect } from 'chai'
import { notices } from '@mortar/auth/notices'
import { passkeys } from '@mortar/auth/passkeys'
import { recent } from '@mortar/auth/recent'
import { SoftAuthenticator } from '@mortar/auth/testing'
import { totp } from '@mortar/auth/totp'
import type { AccountMail, MailKind } from '../../../../plugins/auth/features/mails.ts'
import type { Answer, Client } from '../support/client.ts'
import { onEachStore } from '../support/on-each-store.ts'
import { add, begin, claimsOf } from '../support/passkey-scene.ts'
import { codeOf, enrol, type Enrolled } from '../support/second-factor.ts'
import { ADA, PASSWORD, settle, type World, type WorldOptions } from '../support/world.ts'
import { provider } from './support/account-scene.ts'

const NEXT = 'another horse battery'

/** A user of a test with two browsers. */
interface Scene {
  readonly world: World
  readonly user: typeof ADA
  readonly client: Client
  readonly other: Client
}

/** A request whose effect and response belong together. */
interface Request<Prepared = unknown> {
  readonly prepare?: (scene: Scene) => Promise<Prepared>
  readonly send: (scene: Scene, prepared: Prepared) => Promise<Answer>
  /** Checks the state after a failure, before the request is repeated. */
  readonly afterFailure?: (scene: Scene) => Promise<void>
  /** Checks the effect after a success. */
  readonly check: (scene: Scene, prepared: Prepared, answer: Answer) => Promise<void>
  /** The kind of the one mail about it. */
  readonly mail?: MailKind
}

const request = <Prepared>(given: Request<Prepared>) => given as Request

async function rowsOf({ world, user }: Scene, table: string) {
  const { id } = (await world.storage.users()).find(({ email }) => email === user.email)
  return (await world.storage.rows(table)).filter((row) => row.user_id === id)
}

const statusOf = async (answer: Promise<Answer>) => (await answer).status
const logIn = ({ world, user }: Scene, password = PASSWORD) =>
  statusOf(world.client().post('/auth/login', { ...user, password }))
const challengeOf = async ({ world, user }: Scene) =>
  String((await world.client().post('/auth/login', user)).body.challenge)
const enrolledIn = ({ world, client }: Scene) => enrol(world, client)

/** Logs in again if the failed request has ended the session. */
async function signInAgain({ client, user }: Scene): Promise<void> {
  if ((await client.get('/auth/me')).status === 401)
    expect(await statusOf(client.post('/auth/login', user))).to.equal(200)
}

/** A failure has changed nothing: the session of the request lives on, and no other one has begun. */
async function isStillSignedIn({ client, world, user }: Scene): Promise<void> {
  expect(await statusOf(client.get('/auth/me'))).to.equal(200)
  const { id } = (await world.storage.users()).find(({ email }) => email === user.email)
  expect((await world.storage.sessions()).filter((row) => row.user_id === id)).to.have.length(2)
}

/** A session in place of another one. */
const inPlace = (send: Request['send']) =>
  request({
    prepare: async ({ client }) => client.copy(),
    send,
    afterFailure: isStillSignedIn,
    async check(scene, before) {
      await isStillSignedIn(scene)
      expect(await statusOf(before.get('/auth/me'))).to.equal(401)
    },
  })

const REQUESTS: Readonly<Record<string, Request>> = {
  'a refresh': request({
    send: ({ client }) => client.post('/auth/refresh'),
    // Longer than the grace time, after which the token would count as stolen.
    afterFailure: async ({ world }) => void world.clock.advance(20),
    async check({ client }) {
      expect(await statusOf(client.post('/auth/refresh'))).to.equal(200)
    },
  }),
  'a confirmation': inPlace(({ client }) => client.post('/auth/confirm', { password: PASSWORD })),
  'a login in a browser with a session': inPlace(({ client, user }) => client.post('/auth/login', user)),
  'a new password': request({
    send: ({ client }) => client.post('/auth/change-password', { current: PASSWORD, next: NEXT }),
    async afterFailure(scene) {
      const sid = claimsOf(scene.client)['sid']
      const ended = (await scene.world.storage.rows('auth_ended_sessions')).map(({ id }) => id)
      expect(ended).to.not.include(sid)
    },
    async check(scene) {
      expect([await logIn(scene), await logIn(scene, NEXT)]).to.deep.equal([401, 200])
    },
    mail: 'password-changed',
  }),
  'the confirmation of an authenticator': request({
    prepare: async ({ client }) => String((await client.post('/auth/totp')).body.secret),
    send: ({ client, world }, secret) => client.post('/auth/totp/confirm', { code: codeOf(world, secret) }),
    afterFailure: signInAgain,
    async check(scene, _secret, { body }) {
      expect(body.recoveryCodes).to.have.length(10)
      expect(await rowsOf(scene, 'auth_recovery_codes')).to.have.length(10)
      expect(await statusOf(scene.other.get('/auth/me'))).to.equal(401)
    },
    mail: 'factor-added',
  }),
  'the removal of an authenticator': request({
    prepare: enrolledIn,
    send: ({ client }, enrolled: Enrolled) => client.post('/auth/totp/remove', { code: enrolled.next() }),
    async check(scene) {
      expect(await rowsOf(scene, 'auth_recovery_codes')).to.have.length(0)
      expect(await logIn(scene)).to.equal(200)
    },
    mail: 'factor-removed',
  }),
  'new recovery codes': request({
    async prepare(scene) {
      const { recoveryCodes } = await enrolledIn(scene)
      return [...recoveryCodes]
    },
    // Without the authenticator: the old codes are all that its user has.
    send: ({ client }, codes) => client.post('/auth/recovery-codes', { recoveryCode: codes.pop() }),
    async check(scene, _codes, { body }) {
      expect(await rowsOf(scene, 'auth_recovery_codes')).to.have.length(10)
      const browser = scene.world.client()
      const { challenge } = (await browser.post('/auth/login', scene.user)).body
      const step = { challenge, recoveryCode: body.recoveryCodes[0] }
      expect(await statusOf(browser.post('/auth/login/factor', step))).to.equal(200)
    },
    mail: 'recovery-codes-renewed',
  }),
  'a login with a recovery code': request({
    async prepare(scene) {
      const { recoveryCodes } = await enrolledIn(scene)
      return { challenge: await challengeOf(scene), recoveryCode: recoveryCodes[0]! }
    },
    send: ({ other }, step) => other.post('/auth/login/factor', step),
    async check(scene, { recoveryCode }) {
      expect(await statusOf(scene.other.get('/auth/me'))).to.equal(200)
      expect(await rowsOf(scene, 'auth_recovery_codes')).to.have.length(9)
      const again = { challenge: await challengeOf(scene), recoveryCode }
      expect(await statusOf(scene.client.post('/auth/login/factor', again))).to.equal(401)
    },
    mail: 'recovery-code-used',
  }),
  'a new passkey': request({
    async prepare({ client }) {
      const device = new SoftAuthenticator()
      return { device, responses: [device.create(await begin(client))] }
    },
    async send({ client }, { device, responses }) {
      const response = responses.pop() ?? device.create(await begin(client))
      return client.post('/auth/passkeys', { response, name: 'Phone' })
    },
    async afterFailure(scene) {
      expect(await rowsOf(scene, 'auth_passkeys')).to.have.length(0)
    },
    async check(scene) {
      expect(await rowsOf(scene, 'auth_passkeys')).to.have.length(1)
    },
    mail: 'passkey-added',
  }),
  'the removal of a passkey': request({
    prepare: async ({ client }) => String((await add(client, new SoftAuthenticator())).body.id),
    send: ({ client }, id) => client.delete(`/auth/passkeys/${id}`),
    async check(scene) {
      expect(await rowsOf(scene, 'auth_passkeys')).to.have.length(0)
    },
    mail: 'passkey-removed',
  }),
}

function withFactors(): WorldOptions & { readonly mails: AccountMail[] } {
  const mails: AccountMail[] = []
  const auth = {
    appUrl: 'http://localhost:3000',
    features: [recent(), totp(), passkeys(), notices()],
    sendMail: (mail: AccountMail) => mails.push(mail),
  }
  return { withFeatures: true, auth, mails }
}

async function openScene(world: World, number: number): Promise<Scene> {
  const user = { ...ADA, email: `ada${number}@example.com` }
  const [client, other] = [world.client(), world.client()]
  await client.post('/auth/signup', user)
  await other.post('/auth/login', user)
  return { world, user, client, other }
}

onEachStore('A lost reply of the database to a user who is signed in', (inWorld) => {
  for (const [name, { prepare, send, afterFailure, check, mail }] of Object.entries(REQUESTS))
    it(`of any statement of ${name} leaves its whole effect, or none`, () => {
      const { mails, ...options } = withFactors()
      return inWorld(options, async (world) => {
        let isReached = true
        for (let statement = 1; isReached; statement++) {
          const scene = await openScene(world, statement)
          const prepared = await prepare?.(scene)
          await settle(world)
          const told = () => mails.filter(({ kind, to }) => kind === mail && to.endsWith(scene.user.email))
          const fault = world.storage.interruptions.loseReply(statement)
          let answer = await send(scene, prepared)
          isReached = fault.reached()
          fault.restore()
          if (answer.status >= 500) {
            await settle(world)
            expect(told(), `statement ${statement}`).to.deep.equal([])
            await afterFailure?.(scene)
            answer = await send(scene, prepared)
          }
          expect(answer.status, `statement ${statement}: ${answer.text}`).to.be.below(300)
          await check(scene, prepared, answer)
          await settle(world)
          if (mail !== undefined) expect(told(), `statement ${statement}`).to.have.length(1)
        }
      })
    })

  it('of any statement lets one of two logins with a recovery code win', () => {
    const { mails: _, ...options } = withFactors()
    return inWorld(options, async (world) => {
      for (let statement = 1, isReached = true; isReached; statement++) {
        const scene = await openScene(world, statement)
        const [recoveryCode] = (await enrolledIn(scene)).recoveryCodes
        const steps = [await challengeOf(scene), await challengeOf(scene)]
        await settle(world)
        const fault = world.storage.interruptions.loseReply(statement)
        const statuses = await Promise.all(
          steps.map((challenge) =>
            statusOf(world.client().post('/auth/login/factor', { challenge, recoveryCode })),
          ),
        )
        isReached = fault.reached()
        fault.restore()
        expect(
          statuses.filter((status) => status < 300).length,
          `statement ${statement}: ${statuses.join()}`,
        ).to.be.at.most(1)
        const challenge = await challengeOf(scene)
        const third = await statusOf(world.client().post('/auth/login/factor', { challenge, recoveryCode }))
        expect([...statuses, third].filter((status) => status < 300)).to.have.length(1)
      }
    })
  })
})

/** Requests that a recovery code proves. */
const BY_RECOVERY_CODE: Readonly<Record<string, (scene: Scene, recoveryCode: string) => Promise<Send>>> = {
  'a login': async (scene, recoveryCode) => {
    const challenge = await challengeOf(scene)
    return () => scene.other.post('/auth/login/factor', { challenge, recoveryCode })
  },
  'a confirmation': sending('/auth/confirm', { password: PASSWORD }),
  'a new password': sending('/auth/change-password', { current: PASSWORD, next: NEXT }),
  'new recovery codes': sending('/auth/recovery-codes', {}),
  'the removal of an authenticator': sending('/auth/totp/remove', {}),
}

type Send = () => Promise<Answer>

function sending(path: string, body: object) {
  return async ({ client }: Scene, recoveryCode: string): Promise<Send> =>
    () =>
      client.post(path, { ...body, recoveryCode })
}

onEachStore('A failure of the database', (inWorld) => {
  for (const [name, prepare] of Object.entries(BY_RECOVERY_CODE))
    it(`in any statement of ${name} leaves the recovery code`, () => {
      const { mails: _, ...options } = withFactors()
      return inWorld(options, async (world) => {
        for (let statement = 1, isReached = true; isReached; statement++) {
          const scene = await openScene(world, statement)
          const [recoveryCode = ''] = (await enrolledIn(scene)).recoveryCodes
          const send = await prepare(scene, recoveryCode)
          await settle(world)
          const fault = world.storage.interruptions.failAt(statement)
          const { status } = await send()
          isReached = fault.reached()
          fault.restore()
          if (status < 300) continue
          expect(status, String(statement)).to.equal(500)
          const again = await (await BY_RECOVERY_CODE['a login']!(scene, recoveryCode))()
          expect(again.status, `statement ${statement}: ${again.text}`).to.be.below(300)
        }
      })
    })

  it('leaves no recovery code to a request whose session has ended in that moment', () => {
    const { mails: _, ...options } = withFactors()
    return inWorld(options, async (world) => {
      const scene = await openScene(world, 1)
      const [recoveryCode = ''] = (await enrolledIn(scene)).recoveryCodes
      const logInBy = () => BY_RECOVERY_CODE['a login']!(scene, recoveryCode)
      const send = await logInBy()
      world.storage.interruptions.meanwhile('insert sessions', async () => {
        const [{ id }] = await world.storage.users()
        await provider(world).signOut(id)
        throw new Error('disk I/O error')
      })
      expect((await send()).status).to.equal(500)
      expect((await (await logInBy())()).status).to.equal(401)
    })
  })
})
