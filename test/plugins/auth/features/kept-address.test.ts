import { expect } from 'chai'
import { ignore } from 'mortar/kit'
import { ADA, inWorld, settle } from '../support/world.ts'
import { GRACE, providerOf, socialScene } from './support/social-scene.ts'
import { arrive, deny, denialTo, OPTIONS, replace } from './theft-scene.ts'
import { EVE, NEW, stored, VERIFY, withVerification, type Scene } from './verification-scene.ts'

/** A way to the address of somebody else. */
interface Way {
  /** True if it needs no proof of the address. */
  readonly isNew: boolean
  /** Before anybody has the address. @returns the request, which may fail. */
  prepare(scene: Scene): Promise<() => Promise<unknown>>
}

const newAccount = (create: (scene: Scene) => Promise<unknown>): Way => ({
  isNew: true,
  prepare: (scene) => Promise.resolve(() => create(scene)),
})

describe('An address that a thief replaces', () => {
  const social = socialScene()
  const WAYS: Readonly<Record<string, Way>> = {
    'a signup': newAccount((scene) => scene.client().post('/auth/signup', { ...EVE, email: ADA.email })),
    'a creation by code': newAccount((scene) => providerOf(scene).createUser({ ...EVE, email: ADA.email })),
    'an invitation': newAccount((scene) => providerOf(scene).invite({ name: 'Eve', email: ADA.email })),
    'a first sign-in at another provider': newAccount((scene) =>
      social.visit(scene.client(), { ...GRACE, email: ADA.email }),
    ),
    'a change of address': {
      isNew: false,
      async prepare(scene) {
        const eve = scene.client()
        await eve.post('/auth/signup', EVE)
        await eve.post('/auth/change-email', { email: ADA.email })
        const token = await scene.tokenOf('change-email')
        return () => eve.post(VERIFY, { token })
      },
    },
  }

  /** Runs a way again and again, and something else at each of its statements. Then the owner gets her address back. */
  async function atEachStatement(scene: Scene, { prepare }: Way, isArriving: boolean): Promise<void> {
    const { interruptions } = scene.storage
    let thefts = 0
    for (let place = 1, isReached = true; isReached; place++) {
      await scene.storage.deleteUsers()
      const act = await prepare(scene)
      if (!isArriving) await arrive(scene)
      let count = 0
      interruptions.gate = async () => {
        if (++count !== place) return
        // Unless the other account was faster.
        if (isArriving) await arrive(scene).catch(ignore)
        if (await stored(scene)) await replace(scene, ADA.email, NEW)
      }
      await act().catch(ignore)
      isReached = count >= place
      interruptions.gate = () => undefined
      await settle(scene)
      const owner = await stored(scene, NEW)
      if (owner === undefined) continue
      thefts += 1
      expect(await deny(scene, denialTo(scene, 'email-changed', ADA.email)), String(place)).to.equal(200)
      expect(await stored(scene)).to.include({ id: owner.id })
    }
    expect(thefts).to.be.above(1)
  }

  for (const [name, way] of Object.entries(WAYS))
    for (const isArriving of way.isNew ? [false, true] : [false])
      it(`${isArriving ? 'from somebody who has just come ' : ''}is kept for its owner at each statement of ${name}`, () =>
        withVerification(inWorld, (scene) => atEachStatement(scene, way, isArriving), {
          auth: {
            ...OPTIONS.auth,
            features: [...OPTIONS.auth.features, ...social.withSocial().auth!.features!.slice(1)],
          },
        }))
})
