import { expect } from 'chai'
import { Random } from '../../schema/support/random.ts'
import { seedFor } from '../../support/seed.ts'
import { EndingScene, WAYS } from './support/ending-scene.ts'
import { onEachStore } from './support/on-each-store.ts'
import type { InWorld, World } from './support/world.ts'

/*
 * The real flows of two processes over a storage whose statements are released one by one. A third process that starts
 * afterwards knows only what was published, as every other process of a fleet does.
 */
const ROUNDS = 25

onEachStore('A login that meets the end of sessions', (inWorld) => {
  for (const way of Object.keys(WAYS))
    it(`falls before or after ${way}, at each of its statements`, () =>
      inScene(inWorld, {}, async (scene, [one]) => {
        for (let place = 0, isLast = false; !isLast; place++) {
          const victim = await scene.newVictim()
          const known = new Set(scene.tokens.keys())
          const login = scene.logIn(1, victim)
          await scene.schedule.run(login, 'insert sessions')
          const ending = scene.end(0, way, victim)
          await scene.schedule.quiet()
          for (let step = 0; step < place && ending.waiting.length > 0; step++)
            await scene.schedule.release(ending)
          isLast = ending.waiting.length === 0
          await scene.schedule.run(login)
          await scene.schedule.run(ending)
          const met = [victim.sessionId, ...scene.tokens.keys()].filter((id) => !known.has(id))
          expect(await scene.misjudgedBy(one, met), `statement ${place}`).to.deep.equal([])
        }
      }))

  it(`falls before or after whatever ends sessions, in any order, seed ${seedFor('endings')}`, () =>
    inScene(inWorld, { maxSessions: 3 }, async (scene) => {
      const random = new Random(seedFor('endings'))
      const ways = Object.keys(WAYS)
      for (let round = 0; round < ROUNDS; round++) {
        const victim = await scene.newVictim()
        for (const process of [0, 1]) {
          scene.logIn(process, victim)
          scene.end(process, random.pick(ways), victim)
        }
        scene.logIn(random.below(2), victim)
        await scene.shuffle((count) => random.below(count))
      }
    }))
})

/** Two processes, and at the end a third one that judges every token. */
function inScene(
  inWorld: InWorld,
  auth: { readonly maxSessions?: number },
  body: (scene: EndingScene, worlds: readonly [World, World]) => Promise<void>,
): Promise<void> {
  return inWorld({ file: true, auth }, (one) =>
    inWorld({ file: one.file, auth }, async (two) => {
      const scene = await EndingScene.of([one, two])
      await body(scene, [one, two])
      expect(scene.tokens.size).to.be.greaterThan(3)
      await inWorld({ file: one.file, auth }, async (late) => {
        expect(await scene.misjudgedBy(late)).to.deep.equal([])
      })
    }),
  )
}
