import { expect } from 'chai'
import { setImmediate as nextTurn } from 'node:timers/promises'
import * as fc from 'fast-check'
import { MemoryCounter, type MemoryCounterOptions } from '../../src/limits/memory-counter.ts'
import { TestClock } from '../plugins/auth/support/clock.ts'

function setUp(options: Partial<MemoryCounterOptions> = {}) {
  const clock = new TestClock()
  return { clock, counter: new MemoryCounter({ points: 3, duration: 60, clock, ...options }) }
}

/** The number of allowed attempts among so many in a row. */
function allowed(counter: MemoryCounter, key: string, attempts: number): number {
  return Array.from({ length: attempts }, () => counter.count(key)).filter((count) => count.allowed).length
}

describe('the counter in memory', () => {
  it('allows as many attempts as it has points, and returns the remaining points and time', () => {
    const { clock, counter } = setUp()
    expect(counter.count('a')).to.deep.equal({ allowed: true, remaining: 2, resetIn: 60_000 })
    clock.advance(1)
    expect(counter.count('a')).to.deep.equal({ allowed: true, remaining: 1, resetIn: 59_000 })
    expect(allowed(counter, 'a', 200)).to.equal(1)
    expect(counter.count('a')).to.deep.equal({ allowed: false, remaining: 0, resetIn: 59_000 })
  })

  it('forgets a key that is cleared', () => {
    const { counter } = setUp()
    expect(allowed(counter, 'a', 5)).to.equal(3)
    expect(allowed(counter, 'other', 2)).to.equal(2)
    counter.clear('a')
    counter.clear('b')
    expect(allowed(counter, 'a', 5)).to.equal(3)
    expect(allowed(counter, 'other', 5)).to.equal(1)
  })

  it('counts each key on its own', async () => {
    const { counter } = setUp()
    expect(allowed(counter, 'a', 5)).to.equal(3)
    expect(allowed(counter, 'b', 5)).to.equal(3)
    for (const key of ['__proto__', 'constructor', 'toString', ''])
      expect(allowed(counter, key, 5)).to.equal(3)
  })

  it('begins anew at the end of the window, which rejected attempts do not prolong', async () => {
    const { clock, counter } = setUp()
    allowed(counter, 'a', 3)
    clock.time += 59_999
    expect(allowed(counter, 'a', 100)).to.equal(0)
    clock.time += 1
    expect(allowed(counter, 'a', 100)).to.equal(3)
  })

  it('does not limit for longer than two windows when the clock was ahead and is right now', () => {
    const { clock, counter } = setUp({ capacity: 1 })
    clock.advance(86_400)
    expect(allowed(counter, 'own', 5)).to.equal(3)
    expect(allowed(counter, 'shared', 5)).to.equal(3)
    clock.advance(-86_400)
    for (const key of ['shared', 'own']) {
      expect(counter.count(key).resetIn, key).to.be.at.most(120_000)
      expect(allowed(counter, key, 5), key).to.equal(2)
    }
    expect(counter.size).to.equal(1)
  })

  it('loses no attempt when the clock is set back a little', () => {
    const { clock, counter } = setUp({ capacity: 1 })
    for (const key of ['own', 'shared']) allowed(counter, key, 3)
    clock.advance(-30)
    for (const key of ['own', 'shared']) expect(allowed(counter, key, 3), key).to.equal(0)
  })

  it('limits through a window of 24 days', async () => {
    const { clock, counter } = setUp({ duration: 24 * 86_400 })
    expect(allowed(counter, 'a', 5)).to.equal(3)
    clock.advance(24 * 86_400 - 1)
    expect(allowed(counter, 'a', 5)).to.equal(0)
  })

  it('holds no more keys than it has room for, and reserves shared room only then', async () => {
    const { counter } = setUp({ capacity: 1000 })
    for (let each = 0; each < 1000; each += 1) counter.count(`key ${each}`)
    expect([counter.size, counter.sharedBytes]).to.deep.equal([1000, 0])
    for (let each = 0; each < 5000; each += 1) counter.count(`late ${each}`)
    expect([counter.size, counter.sharedBytes]).to.deep.equal([1000, 2 ** 21])
  })

  it('limits no stranger while 30,000 keys are invented beyond its room', async () => {
    const { counter } = setUp({ capacity: 10, points: 5 })
    for (let each = 0; each < 30_000; each += 1) counter.count(`invented ${each}`)
    let refused = 0
    for (let each = 0; each < 1000; each += 1) refused += 1 - allowed(counter, `stranger ${each}`, 1)
    expect(refused).to.equal(0)
    expect(allowed(counter, 'stranger 1', 10)).to.equal(4)
  })

  it('begins the shared window anew at its end', async () => {
    const { clock, counter } = setUp({ capacity: 1, duration: 60 })
    counter.count('own')
    clock.advance(30)
    expect(allowed(counter, 'late', 5)).to.equal(3)
    expect(counter.count('late').resetIn).to.equal(60_000)
    clock.advance(59)
    counter.count('own')
    expect(allowed(counter, 'late', 5)).to.equal(0)
    clock.advance(1)
    expect(allowed(counter, 'late', 5)).to.equal(3)
  })

  it('leaves a key in the shared room while it is counted there, also when there is room again', async () => {
    const { clock, counter } = setUp({ capacity: 1 })
    counter.count('own')
    clock.advance(30)
    allowed(counter, 'late', 3)
    counter.count('once')
    clock.advance(40)
    expect(allowed(counter, 'late', 1)).to.equal(0)
    expect(counter.count('once').remaining).to.equal(1)
  })

  it('subtracts attempts, never below none, and not from the shared sketch', () => {
    const { counter } = setUp({ capacity: 1 })
    allowed(counter, 'own', 2)
    for (let each = 0; each < 5; each += 1) counter.giveBack('own')
    expect(allowed(counter, 'own', 5)).to.equal(3)
    allowed(counter, 'late', 3)
    counter.giveBack('late')
    expect(allowed(counter, 'late', 1)).to.equal(0)
    expect(counter.size).to.equal(1)
  })

  it('begins no window by subtracting', () => {
    const { counter } = setUp()
    counter.giveBack('nobody')
    expect(counter.size).to.equal(0)
  })

  it('knows nothing of a key when the shared window has ended, and gives it a window of its own', async () => {
    const { clock, counter } = setUp({ capacity: 1 })
    counter.count('own')
    allowed(counter, 'late', 3)
    clock.advance(60)
    expect(counter.count('late').remaining).to.equal(2)
    expect(counter.size).to.equal(1)
  })

  it('counts a thousand keys each on its own by default', async () => {
    const { counter } = setUp()
    for (let each = 0; each < 1000; each += 1) counter.count(`key ${each}`)
    expect([counter.size, counter.sharedBytes]).to.deep.equal([1000, 0])
  })

  it('forgets no counter when keys are invented to push it out', async () => {
    const { counter } = setUp({ capacity: 100 })
    allowed(counter, 'victim', 3)
    for (let each = 0; each < 20_000; each += 1) counter.count(`invented ${each}`)
    expect(allowed(counter, 'victim', 10)).to.equal(0)
  })

  it('limits keys that come when the room is taken, and a success of one forgives nothing of another', async () => {
    const { counter } = setUp({ capacity: 10 })
    for (let each = 0; each < 10; each += 1) counter.count(`first ${each}`)
    expect(allowed(counter, 'late', 10)).to.equal(3)
    counter.clear('late')
    expect(allowed(counter, 'late', 10)).to.equal(0)
  })

  it('has room again when windows have ended', async () => {
    const { clock, counter } = setUp({ capacity: 10 })
    for (let each = 0; each < 5000; each += 1) counter.count(`first ${each}`)
    clock.advance(60)
    expect(allowed(counter, 'late', 10)).to.equal(3)
    expect(counter.size).to.equal(1)
  })

  it('leaves no timer behind', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const { counter } = setUp()
    // Mocha's own timer of an asynchronous test runs by then.
    await nextTurn()
    const before = timers()
    for (let each = 0; each < 100; each += 1) counter.count(`key ${each}`)
    expect(timers()).to.equal(before)
  })

  it('never allows more than its points in a window, whatever the order of keys and times', async () => {
    const step = fc.record({ key: fc.nat(30), wait: fc.constantFrom(0, 0, 0, 1, 20) })
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 200 }),
        fc.integer({ min: 1, max: 8 }),
        async (steps, capacity) => {
          const { clock, counter } = setUp({ capacity })
          const starts = new Map<number, { begin: number; count: number }>()
          for (const { key, wait } of steps) {
            clock.advance(wait)
            if (allowed(counter, String(key), 1) === 0) continue
            const window = starts.get(key)
            const runs = window !== undefined && clock.now() < window.begin + 60_000
            starts.set(key, runs ? { ...window, count: window.count + 1 } : { begin: clock.now(), count: 1 })
            // A shared place may have begun earlier than this key's first attempt, so two windows can meet in one.
            expect(starts.get(key)!.count).to.be.at.most(6)
          }
        },
      ),
      { numRuns: 200 },
    )
  })
})
