import { expect } from 'chai'
import { inRounds } from '../../../plugins/jobs/in-rounds.ts'

describe('inRounds()', () => {
  it('gives each caller its own result of one round, and lets those that come later wait for the next', async () => {
    const rounds: number[][] = []
    let finish = (): void => {}
    const double = inRounds(async (numbers: readonly number[]) => {
      rounds.push([...numbers])
      await new Promise<void>((resolve) => {
        finish = resolve
      })
      return numbers.map((each) => 2 * each)
    })
    const first = [double(1), double(2)]
    while (rounds.length === 0) await new Promise(setImmediate)
    const second = [double(3), double(4)]
    await new Promise(setImmediate)
    expect(rounds).to.deep.equal([[1, 2]])
    finish()
    expect(await Promise.all(first)).to.deep.equal([2, 4])
    while (rounds.length === 1) await new Promise(setImmediate)
    finish()
    expect(await Promise.all(second)).to.deep.equal([6, 8])
    expect(rounds).to.deep.equal([
      [1, 2],
      [3, 4],
    ])
  })

  it('joins the callers of one turn of the event loop', async () => {
    const sizes: number[] = []
    const count = inRounds(async (items: readonly string[]) => {
      sizes.push(items.length)
      return items
    })
    const late = async (): Promise<string> => {
      for (let step = 0; step < 20; step++) await Promise.resolve()
      return count('late')
    }
    expect(await Promise.all([count('first'), late()])).to.deep.equal(['first', 'late'])
    expect(sizes).to.deep.equal([2])
  })

  it('gives an error to the callers of its round only', async () => {
    const failing = inRounds(async (texts: readonly string[]) => {
      if (texts.includes('bad')) throw new Error('refused')
      return texts
    })
    const results = await Promise.allSettled([failing('bad'), failing('good')])
    expect(results.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected'])
    expect(await failing('good')).to.equal('good')
  })
})
