import { expect } from 'chai'
import { basicAuth } from '@mortar/auth/basic'
import { emailVerification } from '@mortar/auth/email-verification'
import { notices } from '@mortar/auth/notices'
import * as yup from 'mortar/yup'
import { onEachStore } from '../support/on-each-store.ts'
import {
  ADA,
  inWorld as onSqlite,
  PASSWORD,
  resetTokenFor,
  SECRET,
  settle,
  signedUp,
  type World,
  type WorldOptions,
} from '../support/world.ts'
import type { Client } from '../support/client.ts'
import { GRACE, meOf, refresh, refused, socialScene, targetOf } from './support/social-scene.ts'

const GUESTS = '/auth/social/guests'
/** Somebody who shows the address of another at an issuer that proves nothing. */
const EVIL = { sub: 'attacker', email: GRACE.email as string, email_verified: true }
const NEXT = 'another horse battery'

/** Runs `act` before the nth statement of a feature from now. */
function before(world: World, nth: number, act: () => Promise<unknown>): () => void {
  const { interruptions } = world.storage
  let seen = 0
  interruptions.gate = async (statement) => {
    if (statement === undefined && ++seen === nth) await act()
  }
  return () => {
    interruptions.gate = () => undefined
    expect(seen, 'statements').to.be.at.least(nth)
  }
}

describe('social(), beside other requests', () => {
  const scene = socialScene()
  const { withSocial, visit } = scene
  const accountOf = async (client: Client) =>
    ((await client.get('/auth/accounts')).body as { accounts: { id: string }[] }).accounts[0]!.id
  const resetBy = (world: World, token: string) =>
    world.client().post('/auth/reset-password', { token, password: NEXT })

  onEachStore('an account', (inWorld) => {
    it('is not for two identities that find it without a way in', () =>
      inWorld(withSocial(), async (world) => {
        const owner = world.client()
        world.storage.interruptions.afterwards('insert users', async () => void (await visit(owner)))
        expect(targetOf(await visit(world.client(), EVIL, {}, GUESTS))).to.equal(refused('sign_in_again'))
        expect(await world.storage.rows('auth_accounts')).to.have.length(1)
        expect(await refresh(owner)).to.equal(200)
      }))
  })

  it('keeps the last way in when the reply of any statement of its removal is lost', () =>
    onSqlite(withSocial(), async (world) => {
      const client = world.client()
      await visit(client)
      await meOf(client)
      const id = await accountOf(client)
      let isReached = true
      for (let statement = 1; isReached; statement++) {
        const fault = world.storage.interruptions.loseReply(statement)
        await client.delete(`/auth/accounts/${id}`)
        isReached = fault.reached()
        fault.restore()
        expect(await world.storage.rows('auth_accounts'), `statement ${statement}`).to.have.length(1)
      }
    }))

  it('unlinks, or can be asked again, when the reply of any statement is lost', () =>
    onSqlite(withSocial(), async (world) => {
      let isReached = true
      for (let statement = 1; isReached; statement++) {
        const client = world.client()
        await visit(client, { ...GRACE, sub: `${statement}`, email: `grace${statement}@example.com` })
        await meOf(client)
        await world.storage.changeUsers({ password_hash: 'x' })
        const id = await accountOf(client)
        const fault = world.storage.interruptions.loseReply(statement)
        const { status } = await client.delete(`/auth/accounts/${id}`)
        isReached = fault.reached()
        fault.restore()
        if (status >= 500)
          expect((await client.delete(`/auth/accounts/${id}`)).status, `statement ${statement}`).to.equal(204)
        expect(await world.storage.rows('auth_accounts')).to.deep.equal([])
      }
    }))

  it('links nothing to an account that a reset has taken meanwhile', () =>
    onSqlite(withSocial(), async (world) => {
      const attacker = await signedUp(world)
      const person = { ...EVIL, email: 'evil@example.com' }
      const { url } = (await attacker.post('/auth/social/company/link', {})).body as { url: string }
      const callback = await scene.issuer.signIn(url, person)
      const token = await resetTokenFor(world)
      const done = before(world, 1, () => resetBy(world, token))
      expect(targetOf(await attacker.get(callback))).to.equal(refused('invalid_token'))
      done()
      expect(await world.storage.rows('auth_accounts')).to.deep.equal([])
    }))

  it('gives back no account that a reset has forgotten meanwhile', () =>
    onSqlite(withSocial(), async (world) => {
      const attacker = world.client()
      await visit(attacker, EVIL, {}, GUESTS)
      await meOf(attacker)
      const account = await accountOf(attacker)
      const token = await resetTokenFor(world, 'grace@example.com')
      const done = before(world, 3, () => resetBy(world, token))
      await attacker.delete(`/auth/accounts/${account}`)
      done()
      expect(await world.storage.rows('auth_accounts')).to.deep.equal([])
    }))

  it('ends the sessions of an account that its owner finds without a way in', () =>
    onSqlite(withSocial(), async (world) => {
      const attacker = world.client()
      await visit(attacker, EVIL, {}, GUESTS)
      await meOf(attacker)
      const account = await accountOf(attacker)
      const owner = world.client()
      let target = ''
      const done = before(world, 3, async () => void (target = targetOf(await visit(owner))))
      await attacker.delete(`/auth/accounts/${account}`)
      done()
      expect(target).to.equal('302 /')
      expect(await refresh(attacker)).to.equal(401)
      expect(await refresh(owner)).to.equal(200)
    }))

  it('forgets linked accounts before a reset proves the address, so that no crash keeps one', () =>
    onSqlite(withSocial(), async (world) => {
      const { interruptions } = world.storage
      expect(targetOf(await visit(world.client(), EVIL, {}, GUESTS))).to.equal('302 /')
      const token = await resetTokenFor(world, 'grace@example.com')
      interruptions.afterwards('update users', async () => interruptions.failAlways())
      await resetBy(world, token)
      interruptions.failAt(0)
      expect(targetOf(await visit(world.client(), EVIL, {}, GUESTS))).to.equal(refused('account_exists'))
    }))

  it('makes no account for a subject that no database keeps', () =>
    onSqlite(withSocial(), async (world) => {
      for (const sub of ['', 'a\u0000b', 'x'.repeat(256)])
        expect(targetOf(await visit(world.client(), { ...GRACE, sub }))).to.equal(refused('sign_in_failed'))
      expect(await world.storage.users()).to.deep.equal([])
      const { status } = await visit(world.client(), { ...GRACE, sub: 'é'.repeat(255) })
      expect(status).to.equal(302)
    }))

  it('emits an event for a sign-in that a limit stops at its beginning', () =>
    onSqlite({ ...withSocial(), limited: true }, async (world) => {
      let status = 0
      for (let count = 0; count < 61; count++) ({ status } = await world.client().get('/auth/social/company'))
      expect(status).to.equal(429)
      expect(world.typesOf()).to.deep.equal(['auth.social.limited'])
    }))
})

describe('social() beside emailVerification()', () => {
  const { withSocial, visit } = socialScene()
  const withVerification = (
    kinds: string[],
    options: Parameters<typeof emailVerification>[0] = {},
    social: Parameters<typeof withSocial>[0] = {},
  ): WorldOptions => {
    const base = withSocial(social)
    const features = [...base.auth!.features!, emailVerification(options), notices()]
    return { ...base, auth: { ...base.auth, features, sendMail: ({ kind }) => void kinds.push(kind) } }
  }

  it('mails no link for an address that the provider has proven, and tells of a link by address', async () => {
    const kinds: string[] = []
    await onSqlite(withVerification(kinds, {}, { linkVerified: true }), async (world) => {
      await visit(world.client())
      await signedUp(world)
      const token = await resetTokenFor(world)
      await world.client().post('/auth/reset-password', { token, password: PASSWORD })
      expect(targetOf(await visit(world.client(), { ...GRACE, sub: '2', email: ADA.email }))).to.equal(
        '302 /',
      )
      await settle(world)
    })
    expect(kinds.toSorted()).to.deep.equal(['account-linked', 'password-changed', 'verify-email'])
  })

  it('makes no account that could never sign in', () =>
    onSqlite(withVerification([], { uniformSignup: true, verifiedOnly: true }), async (world) => {
      expect(targetOf(await visit(world.client(), GRACE, {}, GUESTS))).to.equal(refused('email_unverified'))
      expect(await world.storage.users()).to.deep.equal([])
      expect(targetOf(await visit(world.client()))).to.equal('302 /')
    }))

  it('refuses required fields of signup, which it could not ask for', () => {
    const run = (signUpFields: yup.AnyObjectSchema, options = {}) => {
      const { features } = withSocial(options).auth!
      return () => basicAuth({ secret: SECRET, signUpFields, features: features! })
    }
    expect(run(yup.object({ plan: yup.string().required() }))).to.throw(/signUpFields has a required field/)
    expect(run(yup.object({ plan: yup.string().required() }), { signUp: false })).not.to.throw()
    expect(run(yup.object({ plan: yup.string() }))).not.to.throw()
    expect(run(yup.object({ plan: yup.string().required().default('x') }))).not.to.throw()
  })
})
