import { expect } from 'chai'
import { ModelRun } from './support/rotation-model.ts'

/*
 * The real refresh flow over a store whose statements are released one by one. A depth-first search tries every order of
 * statements, aborts and crashes; states that were reached before in another order are not entered again.
 */
const BUDGETS = [
  { exchanges: 4, tabs: 1, processes: 1 },
  { exchanges: 4, tabs: 1, processes: 4 },
  { exchanges: 3, tabs: 1, processes: 3, crashes: true },
  { exchanges: 3, tabs: 2, processes: 2 },
] as const

describe('The model of rotation', () => {
  for (const budget of BUDGETS)
    it(`loses no session of an honest client: ${JSON.stringify(budget)}`, async () => {
      const { states, ends } = await explore(budget)
      expect(states).to.be.greaterThan(10)
      expect(ends).to.be.greaterThan(2)
    })

  for (const generations of [2, 3])
    it(`ends the session when a thief presents a token ${generations} generations old`, async () => {
      const { ends } = await explore({
        exchanges: generations + 1,
        tabs: 1,
        processes: 2,
        theft: generations,
      })
      expect(ends).to.be.greaterThan(2)
    })
})

type Budget = ConstructorParameters<typeof ModelRun>[0]

/** Runs every path of choices to its end, where `ModelRun.check` throws if a promise of the rotation is broken. */
async function explore(budget: Budget): Promise<{ states: number; ends: number }> {
  const seen = new Set<string>()
  const open: number[][] = [[]]
  let ends = 0
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const run = new ModelRun(budget)
    for (const choice of path) await run.take(choice)
    // The first choice goes on in the same run; the others are replayed from the start later.
    for (const taken = [...path]; !seen.has(run.key()); taken.push(0)) {
      seen.add(run.key())
      const choices = run.choices().length
      for (let choice = 1; choice < choices; choice++) open.push([...taken, choice])
      if (choices === 0) {
        ends += 1
        await run.check()
        break
      }
      await run.take(0)
    }
  }
  return { states: seen.size, ends }
}
