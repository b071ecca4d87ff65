import { expect } from 'chai'
import { emailVerification } from '@mortar/auth/email-verification'
import { notices } from '@mortar/auth/notices'
import { recent } from '@mortar/auth/recent'
import type { MailKind } from '../../../../plugins/auth/features/mails.ts'
import { onEachDatabase } from '../support/on-each-store.ts'
import { ADA, PASSWORD, settle, type InWorld } from '../support/world.ts'
import { logIn, NEW, stored, VERIFY, withLink, withVerification, type Scene } from './verification-scene.ts'

const WEEK = 7 * 86_400
const NEXT = 'another horse battery'
const THIRD = 'ada@third.example'
const OPTIONS = {
  auth: { appUrl: 'http://localhost:3000', features: [recent(), emailVerification(), notices()] },
}

/** Ada has proven her address, and a thief knows her password. */
function withThief(inWorld: InWorld, body: (scene: Scene) => Promise<unknown>, isProven = true) {
  return withVerification(
    inWorld,
    async (scene) => {
      const { client, token } = await withLink(scene)
      if (isProven) expect((await client.post(VERIFY, { token })).status).to.equal(200)
      scene.sent.length = 0
      return body(scene)
    },
    OPTIONS,
  )
}

/** Logs in from a browser that is not known, and replaces the address of the account. */
async function replace(scene: Scene, from: string, to: string): Promise<void> {
  scene.clock.advance(1)
  const thief = scene.client()
  const agent = { 'user-agent': `Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0` }
  await thief.post('/auth/login', { ...ADA, email: from }, agent)
  const asked = await thief.post('/auth/change-email', { email: to })
  expect(asked.status, asked.text).to.equal(202)
  const token = await scene.tokenOf('change-email')
  expect((await thief.post(VERIFY, { token })).status).to.equal(200)
  await settle(scene)
}

/** The token of the first link of a kind that went to an address. */
function denialTo(scene: Scene, kind: MailKind, to: string): string {
  const { link } = scene.sent.find((mail) => mail.kind === kind && mail.to === to)!
  return link?.split('/auth/not-me#token=')[1] ?? `no link in ${kind}`
}

const deny = async (scene: Scene, token: string) =>
  (await scene.client().post('/auth/not-me', { token })).status
const resetsTo = async (scene: Scene) => {
  await settle(scene)
  return scene.mails.map(({ to }) => to)
}

onEachDatabase('An owner whose address a thief has replaced', (inWorld) => {
  for (const kind of ['email-changed', 'email-change-requested', 'new-browser'] as const)
    it(`takes it back by the link of the notice ${kind}, and nobody else gets a link`, () =>
      withThief(inWorld, async (scene) => {
        await replace(scene, ADA.email, NEW)
        await replace(scene, NEW, THIRD)
        const token = denialTo(scene, kind, ADA.email)
        expect(await deny(scene, token)).to.equal(200)
        expect([await stored(scene, NEW), await stored(scene, THIRD)]).to.deep.equal([undefined, undefined])
        expect(await resetsTo(scene)).to.deep.equal([ADA.email])
        expect((await logIn(scene, ADA.email)).status).to.equal(401)
        // Links of the thief's own notices.
        for (const each of ['email-changed', 'email-change-requested'] as const)
          expect(await deny(scene, denialTo(scene, each, NEW))).to.equal(401)
        const reset = { token: scene.mails[0]!.token, password: NEXT }
        expect((await scene.client().post('/auth/reset-password', reset)).status).to.equal(200)
        expect((await logIn(scene, ADA.email, NEXT)).status).to.equal(200)
        expect(await deny(scene, token)).to.equal(401)
      }))

  it('keeps the link when the thief uses one of a later notice', () =>
    withThief(inWorld, async (scene) => {
      await replace(scene, ADA.email, NEW)
      await replace(scene, NEW, THIRD)
      expect(await deny(scene, denialTo(scene, 'email-changed', NEW))).to.equal(200)
      expect(await deny(scene, denialTo(scene, 'email-changed', ADA.email))).to.equal(200)
      expect(await stored(scene)).to.not.equal(undefined)
      expect((await resetsTo(scene)).at(-1)).to.equal(ADA.email)
    }))

  it('takes it back by two requests that come together', () =>
    withThief(inWorld, async (scene) => {
      await replace(scene, ADA.email, NEW)
      const token = denialTo(scene, 'email-changed', ADA.email)
      const statuses = await Promise.all([deny(scene, token), deny(scene, token)])
      expect(statuses.toSorted()).to.deep.equal([200, 401])
      expect(await stored(scene)).to.not.equal(undefined)
      expect(await resetsTo(scene)).to.deep.equal([ADA.email])
    }))

  it('takes nothing back after a week', () =>
    withThief(inWorld, async (scene) => {
      await replace(scene, ADA.email, NEW)
      scene.clock.advance(WEEK)
      expect(await deny(scene, denialTo(scene, 'email-changed', ADA.email))).to.equal(401)
      expect(await stored(scene)).to.equal(undefined)
    }))

  it('takes no address back that was not proven', () =>
    withThief(
      inWorld,
      async (scene) => {
        await replace(scene, ADA.email, NEW)
        expect(await deny(scene, denialTo(scene, 'email-changed', ADA.email))).to.equal(200)
        expect(await stored(scene)).to.equal(undefined)
      },
      false,
    ))

  it('ends the password and starts no reset if another account has the address by now', () =>
    withThief(inWorld, async (scene) => {
      await replace(scene, ADA.email, NEW)
      const other = { ...ADA, password: 'the words of another' }
      expect((await scene.client().post('/auth/signup', other)).status).to.equal(201)
      expect(await deny(scene, denialTo(scene, 'email-changed', ADA.email))).to.equal(409)
      expect((await logIn(scene, NEW, PASSWORD)).status).to.equal(401)
      expect(await resetsTo(scene)).to.deep.equal([])
    }))
})
