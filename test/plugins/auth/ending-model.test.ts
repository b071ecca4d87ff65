import { expect } from 'chai'
import { Random } from '../../schema/support/random.ts'
import { seedFor } from '../../support/seed.ts'
import { EndingScene, WAYS, withEndings } from './support/ending-scene.ts'
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
      inScene(inWorld, async (scene, one) => {
        for (let place = 0, isLast = false; !isLast; place++) {
          const known = new Set(scene.tokens.keys())
          const victim = await scene.newVictim()
          const end = await scene.prepare(0, way, victim)
          const login = scene.logIn(1, victim)
          await scene.schedule.run(login, 'insert sessions')
          const ending = end()
          await scene.schedule.quiet()
          for (let step = 0; step < place && ending.waiting.length > 0; step++)
            await scene.schedule.release(ending)
          isLast = ending.waiting.length === 0
          await scene.schedule.run(login)
          await scene.schedule.run(ending)
          const met = [...scene.tokens.keys()].filter((id) => !known.has(id))
          expect(await scene.misjudgedBy(one, met), `statement ${place}`).to.deep.equal([])
          if (place > 0) continue
          const alive = await scene.alive()
          expect(met.some((id) => !alive.has(id))).to.equal(true)
        }
      }))

  it(`falls before or after whatever ends sessions, in any order, seed ${seedFor('endings')}`, () =>
    inScene(inWorld, async (scene) => {
      const random = new Random(seedFor('endings'))
      const ways = Object.keys(WAYS)
      for (let round = 0; round < ROUNDS; round++) {
        const victim = await scene.newVictim()
        const ends: (() => void)[] = []
        // One after the other: of two logins in one new browser, one sends the notice whose link both need.
        for (const process of [0, 1]) ends.push(await scene.prepare(process, random.pick(ways), victim))
        for (const end of ends) end()
        for (const process of [0, 1]) scene.logIn(process, victim)
        scene.logIn(random.below(2), victim)
        await scene.shuffle((count) => random.below(count))
      }
    }))
})

/** Two processes, and at the end a third one that judges every token. */
function inScene(inWorld: InWorld, body: (scene: EndingScene, one: World) => Promise<void>): Promise<void> {
  const { mails, ...options } = withEndings()
  return inWorld(options, (one) =>
    inWorld({ ...options, file: one.file }, async (two) => {
      const scene = await EndingScene.of([one, two], mails)
      await body(scene, one)
      expect(scene.tokens.size).to.be.greaterThan(3)
      await inWorld({ ...options, file: one.file }, async (late) => {
        expect(await scene.misjudgedBy(late)).to.deep.equal([])
      })
    }),
  )
}
