import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { expect } from 'chai'
import { errors, type CryptoKey, type JWSHeaderParameters, type LocalJWKSet } from 'jose'
import { createPublishedKeys } from '../../../../plugins/auth-hosted/published-keys.ts'
import { failureOf } from '../support/failure-of.ts'

describe('The published keys of a hosted provider', () => {
  it('are not fetched again by a request whose look-up ends after another one has fetched them', async () => {
    const key = {} as CryptoKey
    let release: () => void = () => undefined
    const waits = [
      new Promise<void>((resolve) => {
        release = resolve
      }),
    ]
    const old = async ({ kid }: JWSHeaderParameters) => {
      if (kid === 'old') return key
      await waits.shift()
      throw new errors.JWKSNoMatchingKey()
    }
    let loads = 0
    const keys = createPublishedKeys({
      load: async () => (loads++ === 0 ? old : async () => key) as unknown as LocalJWKSet,
      clock: { now: () => 0 },
      timeout: 1000,
      lifetime: 60_000,
      coolDown: 0,
    })
    const find = (kid: string) => keys.find({ alg: 'RS256', kid }, {} as never)
    expect(await find('old')).to.equal(key)
    const late = find('new')
    expect(await find('new')).to.equal(key)
    release()
    expect(await late).to.equal(key)
    expect(loads).to.equal(2)
  })

  for (const [from, isDone] of [
    ['has begun', false],
    ['has ended', true],
  ] as const)
    it(`are fetched once more for a key that is newer than a fetch that ${from} before`, async () => {
      const key = {} as CryptoKey
      const published = (...kids: string[]) =>
        (async ({ kid }: JWSHeaderParameters) => {
          if (kids.includes(kid!)) return key
          throw new errors.JWKSNoMatchingKey()
        }) as unknown as LocalJWKSet
      const waiting: ((keys: LocalJWKSet) => void)[] = []
      const keys = createPublishedKeys({
        load: () =>
          new Promise((resolve) => {
            waiting.push(resolve)
          }),
        clock: { now: () => 0 },
        timeout: 60_000,
        lifetime: 60_000,
        coolDown: 1000,
      })
      const find = (kid: string) => keys.find({ alg: 'RS256', kid }, {} as never)
      const fetches = async (count: number) => {
        for (let turn = 0; turn < 10_000 && waiting.length < count; turn++) await turnOfTheLoop()
      }
      const first = find('1')
      waiting[0]!(published('1'))
      expect(await first).to.equal(key)
      const second = find('2')
      await fetches(2)
      // The provider changes its keys again while its response to this fetch is on its way.
      const third = [find('3'), find('3')]
      if (!isDone) await turnOfTheLoop()
      waiting[1]!(published('1', '2'))
      expect(await second).to.equal(key)
      await fetches(3)
      waiting[2]?.(published('2', '3'))
      expect(await Promise.all(third)).to.deep.equal([key, key])
      expect(waiting.length).to.equal(3)
      // One fetch is enough for a name that the provider does not know.
      const unknown = find('4')
      await fetches(4)
      waiting[3]?.(published('2', '3'))
      expect(await unknown).to.equal(null)
      expect(waiting.length).to.equal(4)
    })

  it('are fetched when a clock that was ahead is right, whatever was put off by it', async () => {
    const key = {} as CryptoKey
    const known = async ({ kid }: JWSHeaderParameters) => {
      if (kid === 'known') return key
      throw new errors.JWKSNoMatchingKey()
    }
    let [now, loads, isDown] = [3_600_000, 0, true]
    const keys = createPublishedKeys({
      load: async () => {
        loads += 1
        if (isDown) throw new Error('The server is away.')
        return known as unknown as LocalJWKSet
      },
      clock: { now: () => now },
      timeout: 1000,
      lifetime: 86_400_000,
      coolDown: 5000,
    })
    const find = (kid: string) => keys.find({ alg: 'RS256', kid }, {} as never)
    expect((await failureOf(() => find('known'))).message).to.include('not available')
    isDown = false
    now = 1_800_000
    expect(await find('known')).to.equal(key)
    for (let made = 0; made < 5; made++) expect(await find('made-up')).to.equal(null)
    const before = loads
    now = 0
    expect(await find('made-up')).to.equal(null)
    expect(loads - before).to.equal(1)
  })

  for (const isClosed of [false, true])
    it(`are not waited for beyond ${isClosed ? 'the close' : 'the time limit'}, which ends the request for them`, async () => {
      const signals: AbortSignal[] = []
      const keys = createPublishedKeys({
        load: (signal) => {
          signals.push(signal)
          return new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error))
          })
        },
        clock: { now: () => 0 },
        timeout: isClosed ? 60_000 : 10,
        lifetime: 60_000,
        coolDown: 0,
      })
      const found = failureOf(() => keys.find({ alg: 'RS256', kid: 'a' }, {} as never))
      if (isClosed) keys.close()
      expect((await found).message).to.include('not available')
      expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true])
    })
})
