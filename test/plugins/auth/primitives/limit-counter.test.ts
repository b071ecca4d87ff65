import { expect } from 'chai'
import { createLimitCounter } from '../../../../plugins/auth/limit-counter.ts'
import { TestClock } from './clock.ts'

const LIMIT = { rule: 'login', scope: 'ip', limit: 2, window: 60 } as const

describe('a limit counter', () => {
  it('counts in memory when Redis is connected and never answers', async () => {
    const faults: unknown[] = []
    const never = (): Promise<never> => new Promise(() => {})
    const redis = { status: 'ready', defineCommand: () => undefined, rlflxIncr: never, del: never }
    const onRedis = (error: unknown): unknown => faults.push(error)
    const counter = createLimitCounter({ limit: LIMIT, clock: new TestClock(), redis, onRedis, patience: 5 })
    const counts = [await counter.count('a'), await counter.count('a'), await counter.count('a')]
    expect(counts.map(({ allowed, remaining }) => [allowed, remaining])).to.deep.equal([
      [true, 1],
      [true, 0],
      [false, 0],
    ])
    await counter.clear('a')
    expect(await counter.count('a')).to.deep.include({ allowed: true })
    expect(faults).to.have.lengthOf(1)
  })
})
