import { expect } from 'chai'
import { setImmediate as nextTurn } from 'node:timers/promises'
import * as fc from 'fast-check'
import { RateLimiterCompatibleAbstract, RateLimiterRes } from 'rate-limiter-flexible'
import { MemoryCounter, type MemoryCounterOptions } from '../../../../plugins/auth/limits/memory-counter.ts'
import { TestClock } from '../support/clock.ts'

function setUp(options: Partial<MemoryCounterOptions> = {}) {
  const clock = new TestClock()
  return { clock, counter: new MemoryCounter({ points: 3, duration: 60, clock, ...options }) }
}

/** Counts the allowed attempts of a row of attempts. */
async function allowed(counter: MemoryCounter, key: string, attempts: number): Promise<number> {
  const outcomes = await Promise.allSettled(Array.from({ length: attempts }, () => counter.consume(key)))
  return outcomes.filter(({ status }) => status === 'fulfilled').length
}

describe('the counter in memory', () => {
  it('has the interface of rate-limiter-flexible', async () => {
    const { counter } = setUp({ keyPrefix: 'login' })
    expect(counter).to.be.instanceOf(RateLimiterCompatibleAbstract)
    expect(counter.keyPrefix).to.equal('login')
    expect(await counter.consume('a')).to.be.instanceOf(RateLimiterRes)
    expect((await counter.penalty('a', 3)).consumedPoints).to.equal(4)
    expect((await counter.reward('a', 2)).consumedPoints).to.equal(2)
    expect((await counter.get('a'))?.remainingPoints).to.equal(1)
    expect(await counter.get('b')).to.equal(null)
    expect(await counter.delete('a')).to.equal(true)
    expect(await counter.delete('a')).to.equal(false)
    expect((await counter.set('a', 3, 10)).msBeforeNext).to.equal(10_000)
    expect(await allowed(counter, 'a', 1)).to.equal(0)
    expect(await counter.block('b', 5)).to.include({
      remainingPoints: 0,
      consumedPoints: 4,
      msBeforeNext: 5000,
    })
    expect(await allowed(counter, 'b', 1)).to.equal(0)
  })

  it('allows as many as it has points, and rejects with a value that is not an Error', async () => {
    const { counter } = setUp()
    expect(await allowed(counter, 'a', 200)).to.equal(3)
    const rejection: unknown = await counter.consume('a').catch((reason: unknown) => reason)
    expect(rejection).to.be.instanceOf(RateLimiterRes).and.not.be.instanceOf(Error)
    expect(rejection).to.include({ remainingPoints: 0, consumedPoints: 201, msBeforeNext: 60_000 })
  })

  it('counts each key on its own', async () => {
    const { counter } = setUp()
    expect(await allowed(counter, 'a', 5)).to.equal(3)
    expect(await allowed(counter, 'b', 5)).to.equal(3)
    for (const key of ['__proto__', 'constructor', 'toString', ''])
      expect(await allowed(counter, key, 5)).to.equal(3)
  })

  it('begins anew at the end of the window, which rejected attempts do not prolong', async () => {
    const { clock, counter } = setUp()
    await allowed(counter, 'a', 3)
    clock.time += 59_999
    expect(await allowed(counter, 'a', 100)).to.equal(0)
    clock.time += 1
    expect(await allowed(counter, 'a', 100)).to.equal(3)
  })

  it('limits through a window of 24 days', async () => {
    const { clock, counter } = setUp({ duration: 24 * 86_400 })
    expect(await allowed(counter, 'a', 5)).to.equal(3)
    clock.advance(24 * 86_400 - 1)
    expect(await allowed(counter, 'a', 5)).to.equal(0)
  })

  it('holds no more keys than it has room for, and reserves shared room only then', async () => {
    const { counter } = setUp({ capacity: 1000 })
    for (let each = 0; each < 1000; each += 1) await counter.consume(`key ${each}`)
    expect([counter.size, counter.sharedBytes]).to.deep.equal([1000, 0])
    for (let each = 0; each < 5000; each += 1) await counter.consume(`late ${each}`)
    expect([counter.size, counter.sharedBytes]).to.deep.equal([1000, 2 ** 21])
  })

  it('limits no stranger while 30,000 keys are invented beyond its room', async () => {
    const { counter } = setUp({ capacity: 10, points: 5 })
    for (let each = 0; each < 30_000; each += 1) await counter.consume(`invented ${each}`)
    let refused = 0
    for (let each = 0; each < 1000; each += 1) refused += 1 - (await allowed(counter, `stranger ${each}`, 1))
    expect(refused).to.equal(0)
    expect(await allowed(counter, 'stranger 1', 10)).to.equal(4)
  })

  it('begins the shared window anew at its end', async () => {
    const { clock, counter } = setUp({ capacity: 1, duration: 60 })
    await counter.consume('own')
    clock.advance(30)
    expect(await allowed(counter, 'late', 5)).to.equal(3)
    expect((await counter.get('late'))!.msBeforeNext).to.equal(60_000)
    clock.advance(59)
    await counter.consume('own')
    expect(await allowed(counter, 'late', 5)).to.equal(0)
    clock.advance(1)
    expect(await allowed(counter, 'late', 5)).to.equal(3)
  })

  it('leaves a key in the shared room while it is counted there, also when there is room again', async () => {
    const { clock, counter } = setUp({ capacity: 1 })
    await counter.consume('own')
    clock.advance(30)
    await allowed(counter, 'late', 3)
    clock.advance(40)
    expect(await allowed(counter, 'late', 1)).to.equal(0)
  })

  it('takes points back, never below none, and not from the shared room', async () => {
    const { counter } = setUp({ capacity: 1 })
    await allowed(counter, 'own', 2)
    await counter.reward('own', 5)
    expect(await allowed(counter, 'own', 5)).to.equal(3)
    await allowed(counter, 'late', 3)
    await counter.reward('late')
    expect(await allowed(counter, 'late', 1)).to.equal(0)
    expect(counter.size).to.equal(1)
  })

  it('begins no window by subtracting, and reports counts of the shared sketch', async () => {
    const { counter } = setUp({ capacity: 1 })
    await counter.reward('nobody')
    expect([counter.size, await counter.get('nobody')]).to.deep.equal([0, null])
    await counter.consume('own')
    await allowed(counter, 'late', 2)
    expect((await counter.reward('late')).consumedPoints).to.equal(2)
    expect((await counter.get('late'))!.consumedPoints).to.equal(2)
  })

  it('sets the consumed points, and begins a new window', async () => {
    const { clock, counter } = setUp({ capacity: 1 })
    await allowed(counter, 'own', 2)
    clock.advance(30)
    expect(await counter.set('own', 1, 60)).to.include({ consumedPoints: 1, msBeforeNext: 60_000 })
    await allowed(counter, 'late', 1)
    expect((await counter.set('late', 2, 60)).consumedPoints).to.equal(2)
  })

  it('knows nothing of a key when the shared window has ended, and gives it a window of its own', async () => {
    const { clock, counter } = setUp({ capacity: 1 })
    await counter.consume('own')
    await allowed(counter, 'late', 3)
    clock.advance(60)
    expect(await counter.get('late')).to.equal(null)
    await counter.consume('late')
    expect(counter.size).to.equal(1)
    expect((await counter.get('late'))!.consumedPoints).to.equal(1)
  })

  it('counts a thousand keys each on its own by default', async () => {
    const { counter } = setUp()
    for (let each = 0; each < 1000; each += 1) await counter.consume(`key ${each}`)
    expect([counter.size, counter.sharedBytes]).to.deep.equal([1000, 0])
  })

  it('forgets no counter when keys are invented to push it out', async () => {
    const { counter } = setUp({ capacity: 100 })
    await allowed(counter, 'victim', 3)
    for (let each = 0; each < 20_000; each += 1)
      await counter.consume(`invented ${each}`).catch(() => undefined)
    expect(await allowed(counter, 'victim', 10)).to.equal(0)
  })

  it('limits keys that come when the room is taken, and a success of one forgives nothing of another', async () => {
    const { counter } = setUp({ capacity: 10 })
    for (let each = 0; each < 10; each += 1) await counter.consume(`first ${each}`)
    expect(await allowed(counter, 'late', 10)).to.equal(3)
    expect(await counter.delete('late')).to.equal(false)
    await counter.set('late', 0, 60)
    expect(await allowed(counter, 'late', 10)).to.equal(0)
  })

  it('has room again when windows have ended', async () => {
    const { clock, counter } = setUp({ capacity: 10 })
    for (let each = 0; each < 5000; each += 1) await counter.consume(`first ${each}`).catch(() => undefined)
    clock.advance(60)
    expect(await allowed(counter, 'late', 10)).to.equal(3)
    expect(counter.size).to.equal(1)
  })

  it('leaves no timer behind', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const { counter } = setUp()
    // Mocha's own timer of an asynchronous test runs by then.
    await nextTurn()
    const before = timers()
    for (let each = 0; each < 100; each += 1) await counter.consume(`key ${each}`)
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
            if ((await allowed(counter, String(key), 1)) === 0) continue
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
