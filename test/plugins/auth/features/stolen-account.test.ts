import { expect } from 'chai'
import { account, type AccountOptions } from '@mortar/auth/account'
import { onEachDatabase } from '../support/on-each-store.ts'
import { ADA, inWorld as onSqlite, type InWorld } from '../support/world.ts'
import { DAY, provider, prune } from './support/account-scene.ts'
import { AGENT, arrive, deny, denialTo, OPTIONS, replace, resetsTo, withThief } from './theft-scene.ts'
import { logIn, NEW, stored, type Scene } from './verification-scene.ts'

const NEXT = 'another horse battery'

/** Ada has proven her address, and a thief knows her password. Users may delete their accounts. */
const withAccount = (inWorld: InWorld, body: (scene: Scene) => Promise<unknown>, options?: AccountOptions) =>
  withThief(inWorld, body, true, [account(options), ...OPTIONS.auth.features])

/** Logs in from a browser that is not known, and deletes the account. @returns the token that takes it back. */
async function deleteAt(scene: Scene, email: string): Promise<string> {
  scene.clock.advance(1)
  const thief = scene.client()
  await thief.post('/auth/login', { ...ADA, email }, AGENT)
  expect((await thief.delete('/auth/account')).status).to.equal(204)
  return scene.tokenOf('account-deletion')
}

/** The owner has her account, and no link of the thief takes it back. */
async function expectOpen(scene: Scene, restoring: string): Promise<void> {
  expect(await stored(scene)).to.include({ disabled_at: null })
  expect(await resetsTo(scene)).to.deep.equal([ADA.email])
  const reset = { token: scene.mails[0]!.token, password: NEXT }
  expect((await scene.client().post('/auth/reset-password', reset)).status).to.equal(200)
  expect((await scene.client().post('/auth/account/restore', { token: restoring })).status).to.equal(401)
  scene.clock.advance(15 * DAY)
  await prune(scene)
  expect(await scene.storage.rows('auth_deletions')).to.deep.equal([])
  expect((await logIn(scene, ADA.email, NEXT)).status).to.equal(200)
  expect(scene.typesOf().filter((type) => type.startsWith('auth.deletion.c'))).to.deep.equal([
    'auth.deletion.cancelled',
    'auth.deletion.cancel.failed',
  ])
}

onEachDatabase('An owner whose account a thief has deleted', (inWorld) => {
  for (const kind of ['email-changed', 'email-change-requested', 'new-browser'] as const)
    it(`has it again by the link of the notice ${kind}, with the address that he has replaced`, () =>
      withAccount(inWorld, async (scene) => {
        await replace(scene, ADA.email, NEW)
        const restoring = await deleteAt(scene, NEW)
        const token = denialTo(scene, kind, ADA.email)
        expect(await deny(scene, token)).to.equal(200)
        expect(await stored(scene, NEW)).to.equal(undefined)
        await expectOpen(scene, restoring)
        expect(await deny(scene, token)).to.equal(401)
      }))

  for (const [what, options] of [
    ['', {}],
    [', with the data of the application', { eraseData: () => expect.fail('The data are gone.') }],
  ] as const)
    it(`has it again by two requests that come together${what}`, () =>
      withAccount(
        inWorld,
        async (scene) => {
          const restoring = await deleteAt(scene, ADA.email)
          const token = denialTo(scene, 'new-browser', ADA.email)
          const statuses = await Promise.all([deny(scene, token), deny(scene, token)])
          expect(statuses.toSorted()).to.deep.equal([200, 401])
          await expectOpen(scene, restoring)
        },
        options,
      ))

  for (const isDeleted of [true, false])
    it(`does not open one that an operator has disabled${isDeleted ? ' since' : ', without a deletion'}`, () =>
      withAccount(inWorld, async (scene) => {
        await replace(scene, ADA.email, NEW)
        if (isDeleted) await deleteAt(scene, NEW)
        const [{ id }] = await scene.storage.users()
        await provider(scene).disable(id)
        const token = denialTo(scene, 'new-browser', ADA.email)
        expect(await deny(scene, token)).to.equal(401)
        expect((await stored(scene, NEW)).disabled_at).to.not.equal(null)
        await provider(scene).enable(id)
        expect(await deny(scene, token)).to.equal(200)
      }))

  it('does not open it after the grace', () =>
    withAccount(
      inWorld,
      async (scene) => {
        await deleteAt(scene, ADA.email)
        scene.clock.advance(3600)
        expect(await deny(scene, denialTo(scene, 'new-browser', ADA.email))).to.equal(401)
        await prune(scene)
        expect(await scene.storage.users()).to.deep.equal([])
      },
      { grace: '1h' },
    ))
})

describe('An owner whose account a thief deletes', () => {
  for (const first of ['thief', 'owner'] as const)
    it(`has it again, at each statement of the ${first} at which the other one comes`, () =>
      withAccount(onSqlite, async (scene) => {
        for (let place = 1, isReached = true; isReached; place++) {
          await scene.storage.deleteUsers()
          scene.sent.length = 0
          await arrive(scene)
          await replace(scene, ADA.email, NEW)
          const token = denialTo(scene, 'new-browser', ADA.email)
          const acts = {
            owner: () => deny(scene, token),
            async thief() {
              const thief = scene.client()
              const enter = (email: string) => thief.post('/auth/login', { ...ADA, email }, AGENT)
              if ((await enter(NEW)).status !== 200) await enter(ADA.email)
              await thief.delete('/auth/account')
            },
          }
          let count = 0
          scene.storage.interruptions.gate = () =>
            ++count === place ? acts[first === 'thief' ? 'owner' : 'thief']().then(() => {}) : undefined
          await acts[first]()
          isReached = count >= place
          scene.storage.interruptions.gate = () => undefined
          await deny(scene, token)
          expect(await stored(scene), String(place)).to.include({ disabled_at: null, password_hash: null })
          expect((await resetsTo(scene)).at(-1)).to.equal(ADA.email)
        }
      }))
})
