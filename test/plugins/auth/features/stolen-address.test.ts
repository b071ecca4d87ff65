import { expect } from 'chai'
import { SoftAuthenticator } from '@mortar/auth/testing'
import { passkeys } from '@mortar/auth/passkeys'
import { totp } from '@mortar/auth/totp'
import type { MailKind } from '../../../../plugins/auth/features/mails.ts'
import type { Client } from '../support/client.ts'
import { onEachDatabase } from '../support/on-each-store.ts'
import { add, logIn as comeInBy } from '../support/passkey-scene.ts'
import { enrol, type Enrolled } from '../support/second-factor.ts'
import { ADA, inWorld as onSqlite, PASSWORD, settle } from '../support/world.ts'
import { GRACE, refresh, refused, socialScene, targetOf, type SocialScene } from './support/social-scene.ts'
import { AGENT, deny, denialTo, OPTIONS, replace, replaceBy, resetsTo, withThief } from './theft-scene.ts'
import {
  EVE,
  logIn,
  NEW,
  stored,
  VERIFY,
  withLink,
  withVerification,
  type Scene,
} from './verification-scene.ts'

const WEEK = 7 * 86_400
const NEXT = 'another horse battery'
const THIRD = 'ada@third.example'

onEachDatabase('An owner whose address a thief has replaced', (inWorld) => {
  for (const kind of ['email-changed', 'email-change-requested', 'new-browser'] as const)
    it(`takes it back by the link of the notice ${kind}, and nobody else gets a link`, () =>
      withThief(inWorld, async (scene) => {
        await replace(scene, ADA.email, NEW)
        // The process of the thief's next requests has a clock that is behind.
        scene.clock.advance(-30)
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

  it('takes it back for good from an address that differs by an accent', () =>
    withThief(inWorld, async (scene) => {
      const accented = ADA.email.replace('a', 'á')
      await replace(scene, ADA.email, accented)
      await replace(scene, accented, THIRD)
      expect(await deny(scene, denialTo(scene, 'email-changed', ADA.email))).to.equal(200)
      expect(await deny(scene, denialTo(scene, 'email-changed', accented))).to.equal(401)
      expect(await stored(scene)).to.not.equal(undefined)
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

  it('finds it free for nobody else, until the links to it are over', () =>
    withThief(inWorld, async (scene) => {
      const other = { ...EVE, email: ADA.email }
      const signUp = async () => (await scene.client().post('/auth/signup', other)).status
      await replace(scene, ADA.email, NEW)
      expect(await signUp()).to.equal(409)
      const eve = scene.client()
      await eve.post('/auth/signup', EVE)
      await eve.post('/auth/change-email', { email: ADA.email })
      expect((await eve.post(VERIFY, { token: await scene.tokenOf('change-email') })).status).to.equal(409)
      await scene.client().post('/auth/forgot-password', { email: ADA.email })
      expect(await resetsTo(scene)).to.deep.equal([])
      expect(await deny(scene, denialTo(scene, 'email-changed', ADA.email))).to.equal(200)
    }))

  it('has left it to others once the links to it are over', () =>
    withThief(inWorld, async (scene) => {
      await replace(scene, ADA.email, NEW)
      scene.clock.advance(WEEK)
      expect((await scene.client().post('/auth/signup', ADA)).status).to.equal(201)
    }))

  it('finds it free after a signup in the moment of the change', () =>
    withThief(inWorld, async (scene) => {
      scene.storage.interruptions.meanwhile('insert users', () => replace(scene, ADA.email, NEW))
      expect((await scene.client().post('/auth/signup', { ...EVE, email: ADA.email })).status).to.equal(409)
      expect(await deny(scene, denialTo(scene, 'email-changed', ADA.email))).to.equal(200)
    }))

  it('ends the password and starts no reset if another account has the address, which is not kept any more', () =>
    withThief(inWorld, async (scene) => {
      // The link is younger than the row that keeps the address.
      scene.storage.interruptions.meanwhile('update users', async () => void scene.clock.advance(10))
      await replace(scene, ADA.email, NEW)
      scene.clock.advance(WEEK - 5)
      expect((await scene.client().post('/auth/signup', { ...EVE, email: ADA.email })).status).to.equal(201)
      expect(await deny(scene, denialTo(scene, 'email-changed', ADA.email))).to.equal(409)
      expect((await logIn(scene, NEW, PASSWORD)).status).to.equal(401)
      expect(await resetsTo(scene)).to.deep.equal([])
    }))
})

interface Theft {
  readonly scene: Scene
  readonly social: SocialScene
  readonly thief: Client
  /** The authenticator of the owner, if she has one. */
  readonly own: Enrolled | undefined
}

/** Something that a thief adds, with the notice about it. */
interface Addition {
  readonly notice: MailKind
  readonly hasOwner?: true
  /** @returns a function that tries to get in with it. */
  add(theft: Theft): Promise<() => Promise<boolean>>
}

const linked = async ({ social }: Pick<Theft, 'social'>, client: Client, sub: string) => {
  const { url } = (await client.post('/auth/social/company/link', {})).body as { url: string }
  expect(targetOf(await client.get(await social.issuer.signIn(url, { ...GRACE, sub })))).to.equal('302 /')
}
const visits = async ({ scene, social }: Pick<Theft, 'scene' | 'social'>, sub: string) => {
  const browser = scene.client()
  await social.visit(browser, { ...GRACE, sub, email_verified: false })
  return (await refresh(browser)) === 200
}
const second = async (scene: Scene, codes: object, password = PASSWORD, email = ADA.email) => {
  const browser = scene.client()
  const { body } = await browser.post('/auth/login', { email, password }, AGENT)
  const step = { challenge: body.challenge, ...codes }
  return { browser, status: (await browser.post('/auth/login/factor', step, AGENT)).status }
}

const ADDITIONS: Readonly<Record<string, Addition>> = {
  'an authenticator': {
    notice: 'factor-added',
    async add({ scene, thief }) {
      const { next } = await enrol(scene, thief)
      return async () => (await second(scene, { code: next() }, NEXT)).status === 200
    },
  },
  'a passkey': {
    notice: 'passkey-added',
    async add({ scene, thief }) {
      const device = new SoftAuthenticator()
      expect((await add(thief, device)).status).to.equal(201)
      return async () => (await comeInBy(scene.client(), device)).status === 200
    },
  },
  'a linked account': {
    notice: 'account-linked',
    async add(theft) {
      await linked(theft, theft.thief, 'thief')
      return () => visits(theft, 'thief')
    },
  },
  'recovery codes': {
    notice: 'recovery-codes-renewed',
    hasOwner: true,
    async add({ scene, thief, own }) {
      const recoveryCode = own!.recoveryCodes[1]
      const { body } = await thief.post('/auth/recovery-codes', { recoveryCode })
      const [stolen] = body.recoveryCodes as string[]
      return async () => (await second(scene, { recoveryCode: stolen }, NEXT)).status === 200
    },
  },
}

/** The features of a scene in which a thief adds something. */
const featuresWith = (social: SocialScene) => [
  ...OPTIONS.auth.features,
  passkeys(),
  totp(),
  ...social.withSocial({ signUp: false }).auth!.features!.slice(1),
]

/** Ada has proven her address, and has a passkey, a linked account and perhaps an authenticator. A thief has logged in. */
async function robbed(scene: Scene, social: SocialScene, hasOwner = false) {
  const { client, token } = await withLink(scene)
  await client.post(VERIFY, { token })
  await client.post('/auth/refresh')
  const device = new SoftAuthenticator()
  expect((await add(client, device)).status).to.equal(201)
  await linked({ social }, client, 'owner')
  const own = hasOwner ? await enrol(scene, client) : undefined
  scene.clock.advance(86_400)
  await settle(scene)
  scene.sent.length = 0
  // The thief knows the password, and recovery codes.
  const thief = own
    ? (await second(scene, { recoveryCode: own.recoveryCodes[0] })).browser
    : await logInAt(scene)
  await settle(scene)
  return { device, own, thief }
}

/** The owner resets the password, and nobody else gets in. */
async function expectRecovered(
  scene: Scene,
  { device, own, thief }: Awaited<ReturnType<typeof robbed>>,
  tries: () => Promise<boolean>,
): Promise<void> {
  expect(await refresh(thief)).to.equal(401)
  await settle(scene)
  const reset = { token: scene.mails.at(-1)!.token, password: NEXT }
  expect((await scene.client().post('/auth/reset-password', reset)).status).to.equal(200)
  expect(await tries()).to.equal(false)
  const login = own ? await second(scene, { code: own.next() }, NEXT) : await logIn(scene, ADA.email, NEXT)
  expect(login.status).to.equal(200)
  // Her own way in, from before, is left.
  expect((await comeInBy(scene.client(), device)).status).to.equal(200)
}

onEachDatabase('A thief who has added', (inWorld) => {
  const social = socialScene()
  for (const [what, { notice, hasOwner, add: adding }] of Object.entries(ADDITIONS))
    for (const kind of ['new-browser', notice] as const) {
      const isReplaced = kind === 'new-browser'
      it(`${what}${isReplaced ? ' and replaced the address' : ''} is out after the link of ${kind}`, () =>
        withVerification(
          inWorld,
          async (scene) => {
            const theft = await robbed(scene, social, hasOwner)
            const tries = await adding({ scene, social, ...theft })
            await settle(scene)
            if (isReplaced) await replaceBy(scene, theft.thief, NEW)
            expect(await deny(scene, denialTo(scene, kind, ADA.email))).to.equal(200)
            await expectRecovered(scene, theft, tries)
            if (!hasOwner) expect(await visits({ scene, social }, 'owner')).to.equal(true)
          },
          { auth: { ...OPTIONS.auth, features: featuresWith(social) } },
        ))
    }
})

describe('A thief who adds', () => {
  const social = socialScene()

  it('an account with the address that he has replaced, at another provider, is refused', () =>
    withThief(
      onSqlite,
      async (scene) => {
        await replace(scene, ADA.email, NEW)
        const target = targetOf(await social.visit(scene.client(), { ...GRACE, email: ADA.email }))
        expect(target).to.equal(refused('account_exists'))
      },
      true,
      [...OPTIONS.auth.features, ...social.withSocial().auth!.features!.slice(1)],
    ))

  const options = () => ({ ...OPTIONS.auth, features: featuresWith(social) })

  it('a linked account and signs in by it in another process is out, at each statement at which the owner comes', () =>
    withVerification(
      onSqlite,
      (scene) =>
        onSqlite({ withFeatures: true, file: scene.file, auth: options() }, async (process) => {
          for (let place = 1, isReached = true; isReached; place++) {
            await scene.storage.deleteUsers()
            const theft = await robbed(scene, social)
            process.clock.time = scene.clock.time
            await linked({ social }, theft.thief, 'thief')
            const token = denialTo(scene, 'new-browser', ADA.email)
            const back = process.client()
            let count = 0
            process.storage.interruptions.gate = () =>
              ++count === place ? deny(scene, token).then(() => {}) : undefined
            await social.visit(back, { ...GRACE, sub: 'thief', email_verified: false })
            isReached = count >= place
            process.storage.interruptions.gate = () => undefined
            await deny(scene, token)
            expect(await refresh(back), String(place)).to.equal(401)
          }
        }),
      { file: true, auth: options() },
    ))

  for (const [what, { hasOwner, add: adding }] of Object.entries(ADDITIONS))
    for (const first of ['thief', 'owner'] as const)
      it(`${what} in another process is out, at each statement of the ${first} at which the other one comes`, () =>
        withVerification(
          onSqlite,
          (scene) =>
            onSqlite({ withFeatures: true, file: scene.file, auth: options() }, async (process) => {
              const interrupted = (first === 'thief' ? process : scene).storage.interruptions
              for (let place = 1, isReached = true; isReached; place++) {
                await scene.storage.deleteUsers()
                const theft = await robbed(scene, social, hasOwner)
                process.clock.time = scene.clock.time
                const token = denialTo(scene, 'new-browser', ADA.email)
                const early = new SoftAuthenticator()
                expect((await add(theft.thief, early)).status).to.equal(201)
                const back = process.client()
                let tries = () => Promise.resolve(false)
                const acts = {
                  async owner() {
                    await deny(scene, token)
                    // The mail with the link for a new password is sent before the other one goes on.
                    await settle(scene)
                  },
                  async thief() {
                    const beside = { ...scene, ...process, client: () => process.client() }
                    // By the passkey, if the session is over and the passkey is not.
                    const isBack = (await comeInBy(back, early)).status === 200
                    const thief = isBack ? back : theft.thief.copy(process.app)
                    tries = await adding({ scene: beside, social, own: theft.own, thief }).catch(() => tries)
                  },
                }
                let count = 0
                interrupted.gate = () =>
                  ++count === place ? acts[first === 'thief' ? 'owner' : 'thief']().then(() => {}) : undefined
                await acts[first]()
                isReached = count >= place
                interrupted.gate = () => undefined
                await deny(scene, token)
                expect([await refresh(back), (await comeInBy(back, early)).status]).to.deep.equal([401, 401])
                await expectRecovered(scene, theft, tries)
              }
            }),
          { file: true, auth: options() },
        ))
})

async function logInAt(scene: Scene): Promise<Client> {
  const thief = scene.client()
  expect((await thief.post('/auth/login', ADA, AGENT)).status).to.equal(200)
  return thief
}
