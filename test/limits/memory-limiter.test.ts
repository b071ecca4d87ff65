import { expect } from 'chai'
import { createMemoryLimiter } from '../../src/limits/memory-limiter.ts'
import { collectGarbage } from '../support/collect-garbage.ts'
import { TestClock } from '../plugins/auth/support/clock.ts'

const LIMIT = { limit: 2, window: '1m' }

describe('the memory of a limiter', () => {
  it('is bounded for 100,000 different keys, and no key exceeds its limit', () => {
    const limiter = createMemoryLimiter({ clock: new TestClock() })
    for (let key = 0; key < 100_000; key++) limiter.consume(`10.${key}`, LIMIT)
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    for (let key = 0; key < 100_000; key++) limiter.consume(`11.${key}`, LIMIT)
    collectGarbage()
    expect(process.memoryUsage().heapUsed - before).to.be.below(4e6)
    for (const key of [0, 49_999, 50_000, 99_999]) {
      limiter.consume(`10.${key}`, LIMIT)
      expect(limiter.consume(`10.${key}`, LIMIT).allowed, String(key)).to.equal(false)
    }
  })

  it('is bounded for keys of any length, which stay different', () => {
    const limiter = createMemoryLimiter({ clock: new TestClock() })
    const long = 'x'.repeat(1_000_000)
    for (const key of [long, `${long}y`]) expect(limiter.consume(key, LIMIT).remaining).to.equal(1)
    limiter.giveBack(long, LIMIT)
    expect(limiter.consume(long, LIMIT).remaining).to.equal(1)
    limiter.clear(long, LIMIT)
    expect(limiter.consume(long, LIMIT).remaining).to.equal(1)
  })

  it('is bounded for limits that are made from input', () => {
    const limiter = createMemoryLimiter({ clock: new TestClock(), capacity: 1 })
    for (let limit = 1; limit <= 1000; limit++)
      expect(limiter.consume('a', { limit, window: 60 }).remaining).to.equal(limit - 1)
    expect(limiter.consume('a', { limit: 1000, window: 60 }).remaining).to.equal(998)
  })

  it('counts by the clock of the application', () => {
    const clock = new TestClock()
    const limiter = createMemoryLimiter({ clock })
    limiter.consume('a', LIMIT)
    clock.advance(20)
    expect(limiter.consume('a', LIMIT)).to.deep.equal({ allowed: true, remaining: 0, resetIn: 40_000 })
    clock.advance(40)
    expect(limiter.consume('a', LIMIT).remaining).to.equal(1)
  })
})
