import { expect } from 'chai'
import { createRouter, defineBrick } from 'mortar'
import { basicAuth } from '@mortar/auth/basic'
import { emailVerification, type EmailVerificationOptions } from '@mortar/auth/email-verification'
import { failureOf } from '../support/failure-of.ts'
import { onEachDatabase } from '../support/on-each-store.ts'
import { ADA, inWorld as onSqlite, PASSWORD, SECRET, settle, type WorldOptions } from '../support/world.ts'
import {
  EVE,
  logIn,
  NEW,
  stored,
  VERIFY,
  withChange,
  withLink,
  withVerification,
} from './verification-scene.ts'

const NEXT = 'another horse battery'
const GUARDED: WorldOptions = {
  bricks: [
    defineBrick({
      name: 'proven',
      routes: [createRouter().get('/proven', { auth: 'verified' }, () => ({ done: true }))],
    }),
  ],
}
const range = Array.from({ length: 32 }, (_, index) => index)
const statusesOf = (answers: readonly { status: number }[]) =>
  answers.map(({ status }) => status).toSorted((a, b) => a - b)
const one200 = (code: number) => [200, ...Array.from({ length: 31 }, () => code)]

onEachDatabase('emailVerification()', (inWorld) => {
  it('sends a link at the signup, which its owner redeems once', () =>
    withVerification(
      inWorld,
      async (scene) => {
        const { client, token } = await withLink(scene)
        expect(await scene.kinds()).to.deep.equal([`verify-email ${ADA.email}`])
        const closed = await client.get('/proven')
        expect([closed.status, closed.body.code]).to.deep.equal([403, 'email_unverified'])
        const answer = await client.post(VERIFY, { token })
        expect([answer.status, answer.body]).to.deep.equal([200, { message: 'Your address is confirmed.' }])
        expect((await stored(scene)).email_verified_at).to.not.equal(null)
        await client.post('/auth/refresh')
        expect((await client.get('/proven')).status).to.equal(200)
        expect((await client.post(VERIFY, { token })).body.code).to.equal('invalid_verification_token')
        expect(await scene.storage.rows('auth_challenges')).to.deep.equal([])
        expect(scene.typesOf()).to.include('auth.email.verified').and.not.include('auth.email.changed')
      },
      GUARDED,
    ))

  it('lets one of 32 redemptions win', () =>
    withVerification(inWorld, async (scene) => {
      const { client, token } = await withLink(scene)
      const answers = await Promise.all(range.map(() => client.copy().post(VERIFY, { token })))
      expect(statusesOf(answers)).to.deep.equal(one200(401))
      expect(scene.typesOf().filter((type) => type === 'auth.email.verified')).to.have.length(1)
    }))

  it('replaces the address once the new one is proven, and ends every session', () =>
    withVerification(inWorld, async (scene) => {
      const { client, token } = await withChange(scene)
      const other = await logIn(scene, ADA.email)
      expect(other.status).to.equal(200)
      expect((await stored(scene)).email).to.equal(ADA.email)
      const before = client.copy()
      const answer = await client.post(VERIFY, { token })
      expect([answer.status, answer.body]).to.deep.equal([
        200,
        { message: 'Your address is changed. Log in with it.' },
      ])
      expect(await stored(scene)).to.equal(undefined)
      expect((await stored(scene, NEW)).email_verified_at).to.not.equal(null)
      expect((await before.get('/private')).status).to.equal(401)
      expect((await before.post('/auth/refresh')).status).to.equal(401)
      expect(await scene.storage.sessions()).to.deep.equal([])
      expect([(await logIn(scene, NEW)).status, (await logIn(scene, ADA.email)).status]).to.deep.equal([
        200, 401,
      ])
      expect(await scene.kinds()).to.deep.equal([
        `verify-email ${ADA.email}`,
        `email-change-requested ${ADA.email}`,
        `change-email ${NEW}`,
        `email-changed ${ADA.email}`,
      ])
      expect(scene.typesOf()).to.include.members(['auth.email.change.requested', 'auth.email.changed'])
    }))

  it('lets one of 32 redemptions of a change win, and refuses the link of before', () =>
    withVerification(inWorld, async (scene) => {
      const { token: first } = await withChange(scene, 'ada@mistyped.example')
      const client = (await logIn(scene, ADA.email)).body.accessToken as string
      const bearer = { authorization: `Bearer ${client}` }
      await scene.client().post('/auth/change-email', { email: NEW }, bearer)
      const token = await scene.tokenOf('change-email')
      expect((await scene.client().post(VERIFY, { token: first, password: PASSWORD })).status).to.equal(401)
      const answers = await Promise.all(range.map(() => scene.client().post(VERIFY, { token }, bearer)))
      expect(statusesOf(answers)).to.deep.equal(one200(401))
      expect((await stored(scene, NEW)).password_version).to.equal(1)
    }))

  it('gives an address to one of two accounts that both have a link for it', () =>
    withVerification(inWorld, async (scene) => {
      const { client, token } = await withChange(scene)
      const eve = scene.client()
      await eve.post('/auth/signup', EVE)
      await eve.post('/auth/change-email', { email: NEW })
      const second = await scene.tokenOf('change-email')
      const answers = await Promise.all([client.post(VERIFY, { token }), eve.post(VERIFY, { token: second })])
      expect(statusesOf(answers)).to.deep.equal([200, 409])
      expect(answers.find(({ status }) => status === 409)!.body.code).to.equal('email_taken')
      const loser = answers[0].status === 409 ? ADA.email : EVE.email
      const addresses = (await scene.storage.users()).map(({ email }) => email as string)
      expect(addresses.toSorted()).to.deep.equal([NEW, loser].toSorted())
    }))

  it('answers a signup alike for every address, and tells the owner by mail', () =>
    withVerification(
      inWorld,
      async (scene) => {
        const answers = [await scene.client().post('/auth/signup', ADA)]
        await settle(scene)
        answers.push(await scene.client().post('/auth/signup', { ...ADA, name: 'Eve', password: NEXT }))
        const [first, second] = answers.map(({ status, text, headers }) => [
          status,
          text,
          Object.keys(headers).toSorted(),
        ])
        expect(first).to.deep.equal(second)
        expect([answers[0]!.status, answers[0]!.headers['set-cookie']]).to.deep.equal([202, undefined])
        expect(await scene.kinds()).to.deep.equal([
          `verify-email ${ADA.email}`,
          `account-exists ${ADA.email}`,
        ])
        expect([
          (await logIn(scene, ADA.email)).status,
          (await logIn(scene, ADA.email, NEXT)).status,
        ]).to.deep.equal([200, 401])
        const { id } = (await scene.storage.users())[0]!
        const ends = scene.events.filter(({ type }) => type.startsWith('auth.signup.'))
        expect(ends.map(({ type, event }) => [type, event['userId']])).to.deep.equal([
          ['auth.signup.succeeded', id],
          ['auth.signup.failed', undefined],
        ])
      },
      { feature: { uniformSignup: true } },
    ))

  it('creates one account of 32 signups at one time', () =>
    withVerification(
      inWorld,
      async (scene) => {
        const answers = await Promise.all(range.map(() => scene.client().post('/auth/signup', ADA)))
        expect(statusesOf(answers)).to.deep.equal(range.map(() => 202))
        const kinds = await scene.kinds()
        expect(kinds.filter((kind) => kind.startsWith('verify-email'))).to.have.length(1)
        expect(kinds.filter((kind) => kind.startsWith('account-exists'))).to.have.length(31)
        expect(await scene.storage.users()).to.have.length(1)
      },
      { feature: { uniformSignup: true } },
    ))
})

describe('emailVerification()', () => {
  it('refuses options that do not fit, and a list without recent()', async () => {
    for (const options of [
      { lifetime: '5s' },
      { lifetime: '8d' },
      { url: 'app.example.com' },
      { url: 'https://app.example.com/#/verify' },
      { url: 'javascript:alert(1)' },
      { verifiedOnly: true },
      { uniformSignup: 'yes' },
      { signup: 'uniform' },
    ])
      expect(
        (await failureOf(() => emailVerification(options as never))).code,
        JSON.stringify(options),
      ).to.match(/^MORTAR_(?:AUTH_)?OPTION/)
    const alone = () => basicAuth({ secret: SECRET, features: [emailVerification()] })
    expect((await failureOf(alone)).message).to.include('emailVerification() without recent()')
  })

  it('does not start in production without an address for its links', async () => {
    const open = (feature: EmailVerificationOptions) =>
      failureOf(() =>
        withVerification(onSqlite, async () => undefined, {
          feature,
          auth: { cost: {} },
          app: { environment: 'production' },
        }),
      )
    expect((await open({})).code).to.equal('MORTAR_AUTH_APP_URL')
  })

  it('has links to a page of the application, or below the prefix of the brick', async () => {
    for (const [feature, brick, start] of [
      [{ url: 'https://app.example.com/verify?x=1' }, {}, 'https://app.example.com/verify?x=1#token='],
      [{}, { prefix: '/accounts' }, 'http://localhost:3000/accounts/verify-email#token='],
    ] as const)
      await withVerification(
        onSqlite,
        async (scene) => {
          const { prefix = '/auth' } = brick as { prefix?: string }
          await scene.client().post(`${prefix}/signup`, ADA)
          await settle(scene)
          expect(scene.sent[0]!.link!.startsWith(start), scene.sent[0]!.link).to.equal(true)
          expect(scene.sent[0]!.html).to.include(start.replace('&', '&amp;'))
          const page = await scene.client().get(`${prefix}/verify-email`)
          expect(page.status).to.equal('url' in feature ? 405 : 200)
        },
        { feature, brick },
      )
  })
})
