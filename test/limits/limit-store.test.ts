import { expect } from 'chai'
import { flexibleStore, type FlexibleLimiter } from '../../src/limits/limit-store.ts'

/** A limiter as rate-limiter-flexible makes it, which counts in a map and may count below zero. */
function fakeLimiter() {
  const counts = new Map<string, number>()
  const add = async (key: string, points: number) => {
    const consumedPoints = (counts.get(key) ?? 0) + points
    counts.set(key, consumedPoints)
    return { consumedPoints, msBeforeNext: -1 }
  }
  const limiter: FlexibleLimiter = {
    consume: add,
    reward: (key, points) => add(key, -points),
    delete: async (key) => counts.delete(key),
  }
  return { limiter, counts }
}

describe('A store of rate-limiter-flexible', () => {
  it('gives back a request that it has counted, and no other', async () => {
    const { limiter, counts } = fakeLimiter()
    const store = flexibleStore(limiter, { isReady: () => true })
    const [counted] = await store.count([{ key: 'a', window: 60, requests: 1 }])
    expect(counted).to.deep.equal({ consumed: 1, resetIn: 0 })
    await store.giveBack('a', 60)
    await store.giveBack('unknown', 60)
    expect([...counts]).to.deep.equal([
      ['a', 0],
      ['unknown', 0],
    ])
  })
})
