import { once } from 'node:events'
import { expect } from 'chai'
import { mock } from 'node:test'
import { promisify } from 'node:util'
import { setTimeout as wait } from 'node:timers/promises'
import type { Counted, KeyCount, LimitStore } from '../../src/limits/limit-store.ts'
import { createSharedLimiter, type SharedLimiterSettings } from '../../src/limits/shared-limiter.ts'
import { TestClock } from '../plugins/auth/support/clock.ts'

const LIMIT = { limit: 2, window: '1m' }
const never = (): Promise<never> => new Promise(() => {})

const turn = promisify(setImmediate)

/** Resolves after some turns of the event loop. */
async function afterTurns<T>(value: T): Promise<T> {
  for (let count = 0; count < 5; count++) await turn()
  return value
}

/** A store that counts in a map, and can be replaced in part. */
function fakeStore(part: Partial<LimitStore> = {}) {
  const counts = new Map<string, number>()
  const commands: [string, number][][] = []
  const add = ({ key, requests }: KeyCount): Counted => {
    const consumed = (counts.get(key) ?? 0) + requests
    counts.set(key, consumed)
    return { consumed, resetIn: 60_000 }
  }
  const store: LimitStore = {
    isReady: () => true,
    async count(given) {
      commands.push(given.map(({ key, requests }) => [key, requests]))
      return given.map(add)
    },
    clear: async (key) => counts.delete(key),
    giveBack: async (key, window) => add({ key, window, requests: -1 }),
    ...part,
  }
  return { store, counts, commands }
}

function setUp(part: Partial<LimitStore> = {}, options: Partial<SharedLimiterSettings> = {}) {
  const clock = new TestClock()
  const changes: unknown[] = []
  const fake = fakeStore(part)
  const onChange = (error?: unknown): unknown => changes.push(error)
  const limiter = createSharedLimiter({ store: fake.store, clock, onChange, patience: 20, ...options })
  const allowed = async (key = 'a', limit = LIMIT): Promise<boolean> =>
    (await limiter.consume(key, limit)).allowed
  return { ...fake, clock, changes, limiter, allowed }
}

describe('a shared limiter', () => {
  it('counts, resets and subtracts in the store', async () => {
    const { limiter, allowed } = setUp()
    expect(await limiter.consume('a', LIMIT)).to.deep.equal({ allowed: true, remaining: 1, resetIn: 60_000 })
    expect([await allowed(), await allowed(), await allowed()]).to.deep.equal([true, false, false])
    await limiter.clear('a', LIMIT)
    expect([await allowed(), await allowed()]).to.deep.equal([true, true])
    await limiter.giveBack('a', LIMIT)
    expect([await allowed(), await allowed()]).to.deep.equal([true, false])
  })

  it('gives the store hashes, and counts apart for each limit', async () => {
    const { counts, limiter } = setUp()
    const keys = ['Ada@example.com', 'ada@example.com', 'ádá@example.com ', 'x'.repeat(10_000)]
    for (const key of keys) await limiter.consume(key, LIMIT)
    await limiter.consume(keys[0]!, { limit: 3, window: '1m' })
    await limiter.consume(keys[0]!, { limit: 2, window: 60 })
    await limiter.consume(keys[0]!, { limit: 2, window: '1h' })
    expect(counts.size).to.equal(6)
    for (const key of counts.keys()) expect(key).to.match(/^[0-9a-f]{64}$/)
  })

  it('counts concurrent requests of a key exactly, with few commands', async () => {
    const { limiter, commands } = setUp()
    const limit = { limit: 100, window: '1m' }
    const counts = await Promise.all(Array.from({ length: 250 }, () => limiter.consume('a', limit)))
    expect(counts.filter(({ allowed }) => allowed)).to.have.lengthOf(100)
    expect(counts.map(({ remaining }) => remaining).slice(0, 101)).to.deep.equal(
      Array.from({ length: 101 }, (_, index) => Math.max(0, 99 - index)),
    )
    expect(commands.map((command) => command.map(([, requests]) => requests))).to.deep.equal([[250]])
  })

  it('counts concurrent requests of many keys with few commands, each key exactly and in its order', async () => {
    const { limiter, commands } = setUp()
    const keys = Array.from({ length: 3600 }, (_, index) => `key ${index % 1200}`)
    const counts = await Promise.all(keys.map((key) => limiter.consume(key, LIMIT)))
    expect(counts.map(({ remaining, allowed }) => [remaining, allowed])).to.deep.equal(
      keys.map(
        (_, index) =>
          [
            [1, true],
            [0, true],
            [0, false],
          ][Math.floor(index / 1200)],
      ),
    )
    expect(commands.map((command) => command.length)).to.deep.equal([500, 500, 200])
  })

  it('counts requests that arrive during a command with the next one, and one command at a time', async () => {
    const sent: ((counted: readonly Counted[]) => void)[] = []
    const { limiter } = setUp({
      count: (given) =>
        new Promise((resolve) => {
          sent.push(() => resolve(given.map(({ requests }) => ({ consumed: requests, resetIn: 1 }))))
        }),
    })
    const first = limiter.consume('a', LIMIT)
    await turn()
    const rest = Promise.all([limiter.consume('b', LIMIT), limiter.consume('c', LIMIT)])
    await turn()
    expect(sent).to.have.lengthOf(1)
    sent[0]!([])
    await first
    await turn()
    expect(sent).to.have.lengthOf(2)
    sent[1]!([])
    await rest
    const later = limiter.consume('d', LIMIT)
    await turn()
    sent[2]!([])
    expect((await later).allowed).to.equal(true)
  })

  it('counts in memory with the same limit while the store is silent, and reports it once', async () => {
    const { allowed, changes, limiter } = setUp({ count: never, clear: never, giveBack: never })
    expect([await allowed(), await allowed(), await allowed()]).to.deep.equal([true, true, false])
    await limiter.clear('a', LIMIT)
    expect([await allowed(), await allowed()]).to.deep.equal([true, true])
    await limiter.giveBack('a', LIMIT)
    expect([await allowed(), await allowed()]).to.deep.equal([true, false])
    expect(changes).to.have.lengthOf(1)
  })

  it('counts in a memory of the given capacity, whose shared part subtracts nothing', async () => {
    const { allowed, limiter } = setUp({ isReady: () => false }, { capacity: 1 })
    expect([await allowed('own'), await allowed('late'), await allowed('late')]).to.deep.equal([
      true,
      true,
      true,
    ])
    await limiter.giveBack('late', LIMIT)
    expect(await allowed('late')).to.equal(false)
  })

  it('ignores a failure that follows the silence of the store', async () => {
    let fail!: (error: Error) => void
    const late = () =>
      new Promise<never>((_resolve, reject) => {
        fail = reject
      })
    const { allowed, changes } = setUp({ count: late })
    expect(await allowed()).to.equal(true)
    fail(new Error('late'))
    // An unhandled rejection fails the run.
    await afterTurns(undefined)
    expect(changes.map(String)).to.deep.equal(['Error: The store did not respond within 20 ms.'])
  })

  it('counts all concurrent requests in memory when the store fails under them', async () => {
    const { limiter } = setUp({ count: async () => Promise.reject(new Error('down')) })
    const counts = await Promise.all(Array.from({ length: 50 }, () => limiter.consume('a', LIMIT)))
    expect(counts.filter(({ allowed }) => allowed)).to.have.lengthOf(2)
  })

  it('gives no command to a store without a connection, which would keep it', async () => {
    const { limiter, commands } = setUp({ isReady: () => false })
    await limiter.consume('a', LIMIT)
    await limiter.giveBack('a', LIMIT)
    await limiter.clear('a', LIMIT)
    expect(commands).to.deep.equal([])
  })

  it('asks the store again after five seconds, with one request at a time, and reports its return', async () => {
    let asked = 0
    let answer: () => Promise<readonly Counted[]> = async () => Promise.reject(new Error('down'))
    const { allowed, changes, clock } = setUp({
      count: () => {
        asked += 1
        return answer()
      },
    })
    await allowed()
    await allowed()
    clock.advance(4.999)
    await allowed()
    expect(asked, 'left alone').to.equal(1)
    clock.advance(0.001)
    await Promise.all(['a', 'b', 'c', 'd'].map((key) => allowed(key)))
    expect(asked, 'one request asks').to.equal(2)
    answer = async () => [{ consumed: 1, resetIn: 1 }]
    clock.advance(5)
    await allowed()
    await allowed('b')
    expect(asked).to.equal(4)
    expect(changes).to.deep.equal([changes[0], undefined])
  })

  it('asks the store again when a clock that was ahead is right', async () => {
    let asked = 0
    const { allowed, clock } = setUp({
      count: () => {
        asked += 1
        return Promise.reject(new Error('down'))
      },
    })
    clock.advance(3600)
    await allowed()
    clock.advance(-3600)
    await allowed()
    expect(asked).to.equal(2)
  })

  it('lets no other request wait for a silent store while one asks it again', async () => {
    const counts = [() => Promise.reject(new Error('down')), never]
    const { allowed, clock } = setUp({ count: () => counts.shift()!() })
    await allowed()
    clock.advance(5)
    const first = allowed()
    // In memory, and so before the store could count as silent.
    expect(await Promise.race([allowed('b'), afterTurns('silent')])).to.equal(true)
    await first
  })

  it('lets the store close a dead connection, once per failure', async () => {
    let resets = 0
    const { allowed } = setUp({ count: never, reset: () => void (resets += 1) })
    await Promise.all([allowed('a'), allowed('b'), allowed('c')])
    expect(resets).to.equal(1)
  })

  it('waits for a slow store that responds to others', async () => {
    const slow = setUp(
      {
        async count() {
          await wait(300)
          return [{ consumed: 1, resetIn: 1 }]
        },
        clear: () => wait(30),
      },
      { patience: 150 },
    )
    const others = (async () => {
      for (let index = 0; index < 10; index++) await slow.limiter.clear(`other${index}`, LIMIT)
    })()
    await slow.limiter.consume('slow', LIMIT)
    await others
    expect(slow.changes).to.deep.equal([])
  })

  it('counts the silence of a store from its last result', async () => {
    const realNow = performance.now
    let now = 0
    const advance = async (milliseconds: number): Promise<void> => {
      now += milliseconds
      mock.timers.tick(milliseconds)
      await afterTurns(undefined)
    }
    performance.now = () => now
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      const { limiter, changes } = setUp({ count: never }, { patience: 1000 })
      void limiter.consume('a', LIMIT)
      await turn()
      await advance(100)
      await limiter.clear('b', LIMIT)
      for (const [milliseconds, failures] of [
        [900, 0],
        [99, 0],
        [1, 1],
      ] as const) {
        await advance(milliseconds)
        expect(changes).to.have.lengthOf(failures)
      }
    } finally {
      mock.timers.reset()
      performance.now = realNow
    }
  })

  it('reads the results that have arrived before it calls the store silent', async () => {
    const { port1, port2 } = new MessageChannel()
    const { limiter, changes } = setUp({
      async count() {
        // This process is busy for longer than the patience, and the result waits in its event loop.
        queueMicrotask(() => {
          port2.postMessage('counted')
          const end = performance.now() + 30
          while (performance.now() < end);
        })
        await once(port1, 'message')
        return [{ consumed: 1, resetIn: 1 }]
      },
    })
    expect(await limiter.consume('a', LIMIT)).to.include({ resetIn: 1 })
    expect(changes).to.deep.equal([])
    port1.close()
  })

  it('reports from none to all of its requests as remaining, whatever its store has counted', async () => {
    for (const [consumed, allowed, remaining] of [
      [-3, true, 2],
      [0, true, 2],
      [2, true, 0],
      [3, false, 0],
      [1_000_000_000, false, 0],
    ] as const) {
      const { limiter } = setUp({ count: async () => [{ consumed, resetIn: 1 }] })
      expect(await limiter.consume('a', LIMIT)).to.deep.equal({ allowed, remaining, resetIn: 1 })
    }
  })

  it('refuses numbers that would limit nothing', () => {
    const { limiter } = setUp()
    for (const wrong of [
      { limit: 0, window: 1 },
      { limit: -1, window: 1 },
      { limit: 1.5, window: 1 },
      { limit: Number.POSITIVE_INFINITY, window: 1 },
      { limit: Number.NaN, window: 1 },
      { limit: '5', window: 1 } as never,
      { limit: 5, window: 0 },
      { limit: 5, window: '25d' },
      { limit: 5, window: 'soon' },
      { limit: 5 } as never,
    ])
      expect(() => limiter.consume('a', wrong), JSON.stringify(wrong)).to.throw(RangeError)
  })
})
