import { expect } from 'chai'
import { createMemoryLimiter } from '../../src/limits/memory-limiter.ts'
import { limitHeaders, limitStanding } from '../../src/limits/limit-headers.ts'
import { parseLimit } from '../../src/limits/parse-limit.ts'
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

  it('forgets the counters of the oldest of more than 256 limits', () => {
    const limiter = createMemoryLimiter({ clock: new TestClock() })
    const first = { limit: 1000, window: 60 }
    limiter.consume('a', first)
    for (let limit = 1; limit <= 255; limit++) limiter.consume('a', { limit, window: 60 })
    expect(limiter.consume('a', first).remaining).to.equal(998)
    limiter.consume('a', { limit: 256, window: 60 })
    expect(limiter.consume('a', first).remaining).to.equal(999)
    expect(limiter.consume('a', { limit: 255, window: 60 }).remaining).to.equal(253)
  })

  it('has the given number of counters, and stores no long key', () => {
    const heapOf = (settings: { capacity?: number }, length: number): number => {
      const limiter = createMemoryLimiter({ clock: new TestClock(), ...settings })
      limiter.consume('first', LIMIT)
      collectGarbage()
      const before = process.memoryUsage().heapUsed
      for (let key = 0; key < 20_000; key++)
        limiter.consume(Buffer.alloc(length, `${key}.`).toString('latin1'), LIMIT)
      collectGarbage()
      const after = process.memoryUsage().heapUsed
      expect(limiter.consume('first', LIMIT).remaining).to.equal(0)
      return after - before
    }
    expect(heapOf({ capacity: 10 }, 20)).to.be.below(heapOf({}, 20) / 3)
    expect(heapOf({}, 2_000)).to.be.below(20e6)
  })

  it('rounds a window up, and names at least one second until its end', () => {
    expect(parseLimit({ limit: 1, window: 1.2 })).to.deep.equal({ limit: 1, window: 2 })
    for (const [limit, window, length] of [
      [1, '1s', 1],
      [1_000_000_000, '24d', 24 * 86_400],
    ] as const)
      expect(parseLimit({ limit, window })).to.deep.equal({ limit, window: length })
    for (const [limit, window] of [
      [1_000_000_001, '1s'],
      [1, '999ms'],
      [1, 24 * 86_400 + 1],
    ] as const)
      expect(() => parseLimit({ limit, window }), `${limit} ${window}`).to.throw(RangeError)
    expect(limitStanding('x', { remaining: 0, resetIn: 0 })).to.equal('"x";r=0;t=1')
    expect(limitStanding('x', { remaining: 0, resetIn: 1001 })).to.equal('"x";r=0;t=2')
  })

  it('counts a key apart for each limit and each window', () => {
    const limiter = createMemoryLimiter({ clock: new TestClock() })
    for (const limit of [LIMIT, { limit: 2, window: '1h' }, { limit: 3, window: '1m' }])
      expect(limiter.consume('a', limit).remaining).to.equal(limit.limit - 1)
    expect(limiter.consume('a', { limit: 2, window: 60 }).remaining, 'the same length').to.equal(0)
  })

  it('names each of several limits in its headers, and none without a limit', () => {
    const state = (name: string, limit: number, remaining: number) => ({
      name,
      limit: { limit, window: 60 },
      count: { remaining, resetIn: 1500 },
    })
    expect(limitHeaders([])).to.deep.equal({})
    expect(limitHeaders([state('ip', 3, 2), state('pair', 5, 0)])).to.deep.equal({
      'RateLimit-Policy': '"ip";q=3;w=60, "pair";q=5;w=60',
      RateLimit: '"ip";r=2;t=2, "pair";r=0;t=2',
    })
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
