import { expect } from 'chai'
import type { AccountMail, MailKind } from '../../../plugins/auth/features/mails.ts'
import { flowsOf, withEndings } from './support/ending-scene.ts'
import { onEachStore } from './support/on-each-store.ts'
import { ADA, eventually, PASSWORD, resetTokenFor, settle, type World } from './support/world.ts'

const NEXT = 'another horse battery'
const FIREFOX = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0' }

/** A user of a test, and the mails that were sent. */
interface Scene {
  readonly world: World
  readonly user: typeof ADA
  readonly mails: readonly AccountMail[]
}

/** A link whose use must have its effect, or be possible again. */
interface Link {
  /** @returns the token. */
  readonly prepare: (scene: Scene) => Promise<string>
  readonly use: (world: World, token: string) => Promise<{ readonly status: number }>
  /** True if the link has had its whole effect. */
  readonly isDone: (scene: Scene) => Promise<boolean>
}

const logIn = async ({ world, user }: Scene, changed: object = {}) =>
  (await world.client().post('/auth/login', { ...user, ...changed })).status
const verify = (world: World, token: string) =>
  world.client().post('/auth/verify-email', { token, password: PASSWORD })
const tokenOf = async ({ world, mails, user }: Scene, kind: MailKind) => {
  await settle(world)
  const mail = mails.findLast((each) => each.kind === kind && each.to.endsWith(user.email))!
  return mail.link!.split('#token=')[1]!
}
const signedIn = async ({ world, user }: Scene) => {
  const client = world.client()
  await client.post('/auth/login', user)
  return client
}

const LINKS: Readonly<Record<string, Link>> = {
  'a reset': {
    prepare: ({ world, user }) => resetTokenFor(world, user.email),
    use: (world, token) => world.client().post('/auth/reset-password', { token, password: NEXT }),
    isDone: async (scene) => (await logIn(scene, { password: NEXT })) === 200,
  },
  'a proof of the address': {
    prepare: (scene) => tokenOf(scene, 'verify-email'),
    use: verify,
    isDone: async ({ world, user }) =>
      (await world.storage.users()).some((row) => row.email === user.email && row.email_verified_at !== null),
  },
  'a change of the address': {
    async prepare(scene) {
      await (await signedIn(scene)).post('/auth/change-email', { email: `new-${scene.user.email}` })
      return tokenOf(scene, 'change-email')
    },
    use: verify,
    isDone: async (scene) => (await logIn(scene, { email: `new-${scene.user.email}` })) === 200,
  },
  'a notice': {
    async prepare(scene) {
      await scene.world.client().post('/auth/login', scene.user, FIREFOX)
      return tokenOf(scene, 'new-browser')
    },
    async use(world, token) {
      const before = world.mails.length
      const answer = await world.client().post('/auth/not-me', { token })
      // Also if the lost reply was that of the look-up after the response, which is repeated.
      if (answer.status === 200) await eventually(() => world.mails.length > before)
      return answer
    },
    async isDone(scene) {
      await settle(scene.world)
      return scene.world.mails.some(({ to }) => to === scene.user.email) && (await logIn(scene)) === 401
    },
  },
  'a return of the account': {
    async prepare(scene) {
      await (await signedIn(scene)).delete('/auth/account')
      return tokenOf(scene, 'account-deletion')
    },
    use: (world, token) => world.client().post('/auth/account/restore', { token }),
    isDone: async (scene) => (await logIn(scene)) === 200,
  },
}

onEachStore('A lost reply of the database', (inWorld) => {
  for (const [name, { prepare, use, isDone }] of Object.entries(LINKS))
    it(`to any statement of the link of ${name} leaves the link valid, or its whole effect`, () => {
      const { mails, ...options } = withEndings()
      return inWorld(options, async (world) => {
        let isReached = true
        for (let statement = 1; isReached; statement++) {
          const user = { ...ADA, email: `ada${statement}@example.com` }
          const scene = { world, user, mails }
          await world.client().post('/auth/signup', user)
          const token = await prepare(scene)
          await settle(world)
          const fault = world.storage.interruptions.loseReply(statement)
          await use(world, token)
          isReached = fault.reached()
          fault.restore()
          if (!(await isDone(scene)))
            expect((await use(world, token)).status, `statement ${statement}`).to.equal(200)
          await flowsOf(world).settled()
          expect(await isDone(scene), `statement ${statement}`).to.equal(true)
        }
      })
    })
})
