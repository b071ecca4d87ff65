import { expect } from 'chai'
import { emailVerification } from '@mortar/auth/email-verification'
import { recent } from '@mortar/auth/recent'
import { sessions } from '@mortar/auth/sessions'
import {
  ADA,
  eventually,
  inWorld as onSqlite,
  PASSWORD,
  resetTokenFor,
  settle,
  signedUp,
  type WorldOptions,
} from '../support/world.ts'
import { onEachStore } from '../support/on-each-store.ts'
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

describe('The link of an address', () => {
  it('asks for the owner: nobody, another account and a wrong password spend nothing', () =>
    withVerification(onSqlite, async (scene) => {
      const { token } = await withLink(scene)
      const eve = scene.client()
      await eve.post('/auth/signup', EVE)
      const attempts = [
        await scene.client().post(VERIFY, { token }),
        await scene.client().post(VERIFY, { token }, { authorization: 'Bearer x' }),
        await eve.post(VERIFY, { token }),
        await eve.post(VERIFY, { token, password: EVE.password }),
        await scene.client().post(VERIFY, { token, password: 'wrong horse' }),
      ]
      for (const { status, body } of attempts)
        expect([status, body.code]).to.deep.equal([401, 'invalid_credentials'])
      expect((await stored(scene)).email_verified_at).to.equal(null)
      expect((await eve.post(VERIFY, { token, password: PASSWORD })).status).to.equal(200)
      expect((await stored(scene, EVE.email)).email_verified_at).to.equal(null)
    }))

  it('is not sent again to an account that is disabled', () =>
    withVerification(onSqlite, async (scene) => {
      await withLink(scene)
      const { length } = await scene.kinds()
      await scene.storage.changeUsers({ disabled_at: new Date(scene.clock.now()) })
      expect((await scene.client().post(`${VERIFY}/resend`, { email: ADA.email })).status).to.be.below(300)
      expect(await scene.kinds()).to.have.length(length)
    }))

  it('is not redeemed with a session that has ended', () =>
    withVerification(onSqlite, async (scene) => {
      const { client, token } = await withLink(scene)
      const before = client.copy()
      await client.post('/auth/logout')
      const answer = await before.post(VERIFY, { token })
      expect([answer.status, answer.body.code]).to.deep.equal([401, 'invalid_credentials'])
    }))

  it('has a token of its own kind: no other token works, and it works nowhere else', () =>
    withVerification(onSqlite, async (scene) => {
      const { client, token } = await withLink(scene)
      const reset = await resetTokenFor(scene)
      for (const other of [reset, client.refreshToken!.slice(0, 43), `${token}A`, token.slice(1), 'x', '%00'])
        expect((await client.post(VERIFY, { token: other })).body.code).to.equal('invalid_verification_token')
      const answer = await client.post('/auth/reset-password', { token, password: NEXT })
      expect([answer.status, answer.body.code]).to.deep.equal([401, 'invalid_reset_token'])
      expect((await client.post(VERIFY, { token })).status).to.equal(200)
    }))

  it('is the same bytes for an unknown, a used and an expired token', () =>
    withVerification(onSqlite, async (scene) => {
      const { client, token } = await withLink(scene)
      scene.clock.advance(86_399)
      const late = await logIn(scene, ADA.email)
      const bearer = { authorization: `Bearer ${late.body.accessToken}` }
      await client.post('/auth/verify-email/resend', { email: ADA.email })
      const second = await scene.tokenOf('verify-email')
      scene.clock.advance(1)
      const expired = await client.post(VERIFY, { token }, bearer)
      expect((await client.post(VERIFY, { token: second }, bearer)).status).to.equal(200)
      const used = await client.post(VERIFY, { token: second }, bearer)
      const unknown = await client.post(VERIFY, { token: token.toLowerCase() }, bearer)
      for (const answer of [expired, used])
        expect([answer.status, answer.text]).to.deep.equal([401, unknown.text])
    }))

  it('of several mails each works until the address is proven', () =>
    withVerification(onSqlite, async (scene) => {
      const { client, token } = await withLink(scene)
      await client.post('/auth/verify-email/resend', { email: ADA.email })
      const second = await scene.tokenOf('verify-email')
      expect(second).to.not.equal(token)
      expect((await client.post(VERIFY, { token })).status).to.equal(200)
      expect((await client.post(VERIFY, { token: second })).body.code).to.equal('invalid_verification_token')
    }))

  it('ends with a new password, signOut, disable and a change of the address', () =>
    withVerification(onSqlite, async (scene) => {
      const { client, token } = await withLink(scene)
      await client.post('/auth/change-email', { email: NEW })
      const change = await scene.tokenOf('change-email')
      await client.post('/auth/change-password', { current: PASSWORD, next: NEXT })
      for (const old of [token, change])
        expect((await client.post(VERIFY, { token: old })).body.code).to.equal('invalid_verification_token')
      await client.post('/auth/verify-email/resend', { email: ADA.email })
      const disabled = await scene.tokenOf('verify-email')
      const { authProvider } = scene.app.services as unknown as {
        authProvider: Record<'disable' | 'enable', (userId: string) => Promise<unknown>>
      }
      const { id } = await stored(scene)
      await authProvider.disable(id)
      const input = { token: disabled, password: NEXT }
      expect((await scene.client().post(VERIFY, input)).body.code).to.equal('invalid_verification_token')
      await authProvider.enable(id)
      expect((await scene.client().post(VERIFY, input)).body.code).to.equal('invalid_verification_token')
    }))

  it('proves the address that it was sent to, and no other that the account has by now', () =>
    withVerification(onSqlite, async (scene) => {
      const { client, token } = await withLink(scene)
      await scene.storage.changeUsers({ email: 'moved@example.com' })
      expect((await client.post(VERIFY, { token })).body.code).to.equal('invalid_verification_token')
    }))

  it('counts a wrong password with those of change-password, and its tries by network', () =>
    withVerification(
      onSqlite,
      async (scene) => {
        const { client, token } = await withLink(scene)
        for (let count = 0; count < 5; count++)
          expect((await scene.client().post(VERIFY, { token, password: 'wrong horse' })).status).to.equal(401)
        expect((await scene.client().post(VERIFY, { token, password: PASSWORD })).status).to.equal(429)
        const change = { current: PASSWORD, next: NEXT }
        expect((await client.post('/auth/change-password', change)).status).to.equal(429)
        for (let count = 6; count < 20; count++)
          expect((await client.post(VERIFY, { token: 'x' })).status).to.equal(401)
        expect((await client.post(VERIFY, { token })).status).to.equal(429)
        expect(scene.typesOf()).to.include('auth.email.verify.limited')
      },
      { limited: true },
    ))
})

describe('A mailbox that its owner did not sign up', () => {
  it('is proven by no click of its owner, whose reset takes the account over', () =>
    withVerification(onSqlite, async (scene) => {
      // Mallory signs up with Ada's address, and Ada gets the link.
      const { client: mallory, token } = await withLink(scene)
      const ada = scene.client()
      expect((await ada.post(VERIFY, { token })).status).to.equal(401)
      expect((await stored(scene)).email_verified_at).to.equal(null)
      const reset = { token: await resetTokenFor(scene), password: NEXT }
      expect((await ada.post('/auth/reset-password', reset)).status).to.equal(200)
      expect((await stored(scene)).email_verified_at).to.not.equal(null)
      for (const end of [
        await mallory.get('/private'),
        await mallory.post('/auth/refresh'),
        await mallory.post('/auth/login', ADA),
        await mallory.post(VERIFY, { token, password: PASSWORD }),
      ])
        expect(end.status).to.equal(401)
      expect((await logIn(scene, ADA.email, NEXT)).status).to.equal(200)
    }))

  it('lets nobody in before it is proven, with verifiedOnly', () =>
    withVerification(
      onSqlite,
      async (scene) => {
        await scene.client().post('/auth/signup', ADA)
        const token = await scene.tokenOf('verify-email')
        const refused = await logIn(scene, ADA.email)
        expect([refused.status, refused.body.code, refused.setCookie]).to.deep.equal([
          403,
          'email_unverified',
          undefined,
        ])
        expect((await logIn(scene, ADA.email, 'wrong horse')).status).to.equal(401)
        expect(await scene.storage.sessions()).to.deep.equal([])
        expect((await scene.client().post(VERIFY, { token, password: PASSWORD })).status).to.equal(200)
        expect((await logIn(scene, ADA.email)).status).to.equal(200)
      },
      { feature: { uniformSignup: true, verifiedOnly: true } },
    ))
})

describe('A change of the address', () => {
  it('needs a recent proof, and an address that is another one', () =>
    withVerification(onSqlite, async (scene) => {
      const client = await signedUp(scene)
      expect((await scene.client().post('/auth/change-email', { email: NEW })).status).to.equal(401)
      expect((await client.post('/auth/change-email', { email: 'ADA@example.com ' })).status).to.equal(422)
      expect((await client.post('/auth/change-email', { email: 'ada' })).status).to.equal(422)
      scene.clock.advance(601)
      const stale = await client.post('/auth/change-email', { email: NEW })
      expect([stale.status, stale.body.code]).to.deep.equal([403, 'reauthentication_required'])
      expect(await scene.kinds()).to.deep.equal([`verify-email ${ADA.email}`])
    }))

  it('is answered alike for an address that has an account, whose owner gets a mail', () =>
    withVerification(onSqlite, async (scene) => {
      await scene.client().post('/auth/signup', EVE)
      const client = await signedUp(scene)
      const [free, taken] = [
        await client.post('/auth/change-email', { email: NEW }),
        await client.post('/auth/change-email', { email: EVE.email }),
      ]
      expect([free.status, free.text]).to.deep.equal([taken.status, taken.text])
      const kinds = await scene.kinds()
      expect(kinds).to.include(`account-exists ${EVE.email}`).and.not.include(`change-email ${EVE.email}`)
    }))

  it('replaces the link of an earlier one, whether or not the new address has an account', () =>
    withVerification(onSqlite, async (scene) => {
      await scene.client().post('/auth/signup', EVE)
      const { client, token } = await withChange(scene)
      await client.post('/auth/change-email', { email: EVE.email })
      await settle(scene)
      // Otherwise the state of the first link would tell if the second address has an account.
      expect((await scene.client().post(VERIFY, { token })).body.code).to.equal('invalid_verification_token')
    }))

  it('replaces the link of an earlier one whose mail is on its way', () =>
    withVerification(onSqlite, async (scene) => {
      const client = await signedUp(scene)
      await settle(scene)
      const linkTo = (to: string) =>
        scene.sent.find((mail) => mail.kind === 'change-email' && mail.to === to)?.link
      const later = async () => {
        await client.post('/auth/change-email', { email: NEW })
        await eventually(() => linkTo(NEW) !== undefined)
      }
      // The third look-up of a user is that of the new address, after the response.
      const { interruptions } = scene.storage
      const before = (count: number, act: () => Promise<unknown>): void =>
        interruptions.meanwhile('select users', async () =>
          count === 1 ? await act() : before(count - 1, act),
        )
      before(3, later)
      await client.post('/auth/change-email', { email: 'ada@mistyped.example' })
      await settle(scene)
      const redeem = (to: string) => client.post(VERIFY, { token: linkTo(to)!.split('#token=')[1] })
      expect((await redeem('ada@mistyped.example')).body.code).to.equal('invalid_verification_token')
      expect((await redeem(NEW)).status).to.equal(200)
    }))

  it('needs the owner too, so that a mistyped address does not get the account', () =>
    withVerification(onSqlite, async (scene) => {
      const { token } = await withChange(scene)
      const answer = await scene.client().post(VERIFY, { token })
      expect([answer.status, answer.body.code]).to.deep.equal([401, 'invalid_credentials'])
      expect((await scene.client().post(VERIFY, { token, password: PASSWORD })).status).to.equal(200)
      expect((await logIn(scene, NEW)).status).to.equal(200)
    }))

  it('does nothing to an account whose new address is taken meanwhile: its sessions go on', () =>
    withVerification(onSqlite, async (scene) => {
      const { client, token } = await withChange(scene)
      await scene.client().post('/auth/signup', { ...EVE, email: NEW })
      const answer = await client.post(VERIFY, { token })
      expect([answer.status, answer.body.code]).to.deep.equal([409, 'email_taken'])
      expect((await client.get('/private')).status).to.equal(200)
      expect((await stored(scene)).email_verified_at).to.equal(null)
    }))

  it('is limited for the user and for the new address', () =>
    withVerification(
      onSqlite,
      async (scene) => {
        const client = await signedUp(scene)
        for (let count = 0; count < 5; count++)
          expect((await client.post('/auth/change-email', { email: NEW })).status).to.equal(202)
        expect((await client.post('/auth/change-email', { email: 'b@new.example' })).status).to.equal(429)
        const eve = scene.client()
        await eve.post('/auth/signup', EVE)
        expect((await eve.post('/auth/change-email', { email: NEW })).status).to.equal(429)
        expect(scene.typesOf().at(-1)).to.equal('auth.email.change.request.limited')
      },
      { limited: true },
    ))
})

describe('Another link', () => {
  it('is asked for alike by every address, with the same work', () =>
    withVerification(onSqlite, async (scene) => {
      const { client, token } = await withLink(scene)
      const statements: unknown[] = []
      const ask = async (email: string) => {
        const answer = await scene.client().post('/auth/verify-email/resend', { email })
        scene.storage.interruptions.gate = (statement) => void statements.push(statement)
        await settle(scene)
        scene.storage.interruptions.gate = () => undefined
        return [
          answer.status,
          answer.text,
          Object.keys(answer.headers).toSorted(),
          statements.splice(0).length,
        ]
      }
      const known = await ask(ADA.email)
      expect(known[0]).to.equal(202)
      expect(await ask('nobody@example.com')).to.deep.equal(known)
      await client.post(VERIFY, { token })
      expect(await ask(ADA.email)).to.deep.equal(known)
      expect(await scene.kinds()).to.deep.equal([`verify-email ${ADA.email}`, `verify-email ${ADA.email}`])
      expect(scene.typesOf().filter((type) => type === 'auth.email.link.requested')).to.have.length(3)
    }))

  it('is limited by address, with and without an account', () =>
    withVerification(
      onSqlite,
      async (scene) => {
        await signedUp(scene)
        for (const email of [ADA.email, 'nobody@example.com']) {
          const ask = () => scene.client().post('/auth/verify-email/resend', { email })
          for (let count = 0; count < 5; count++) expect((await ask()).status).to.equal(202)
          expect((await ask()).status).to.equal(429)
        }
        expect(scene.typesOf().at(-1)).to.equal('auth.email.link.request.limited')
      },
      { limited: true },
    ))

  it('that cannot be mailed is an event without its token, and the signup succeeds', () => {
    let link = ''
    const sendMail: NonNullable<WorldOptions['auth']>['sendMail'] = (mail) => {
      link = mail.link!
      throw new Error(`no mail for ${link}`)
    }
    return withVerification(
      onSqlite,
      async (scene) => {
        await signedUp(scene)
        await settle(scene)
        const { event } = scene.events.find(({ type }) => type === 'auth.mail.failed')!
        expect(event).to.include({ kind: 'verify-email' })
        expect(JSON.stringify(scene.events)).to.not.include(link.split('token=')[1])
      },
      { auth: { sendMail } },
    )
  })
})

onEachStore('A change of the address', (inWorld) => {
  it('ends the session too that was kept when its user ended every other one', () =>
    withVerification(
      inWorld,
      async (scene) => {
        const client = await signedUp(scene)
        expect((await client.delete('/auth/sessions')).status).to.equal(204)
        expect((await client.post('/auth/change-email', { email: NEW })).status).to.equal(202)
        const token = await scene.tokenOf('change-email')
        expect((await scene.client().post(VERIFY, { token, password: PASSWORD })).status).to.equal(200)
        expect(await scene.storage.sessions()).to.deep.equal([])
        expect((await client.post('/auth/refresh')).status).to.equal(401)
      },
      { auth: { features: [recent(), sessions(), emailVerification()] } },
    ))
})
