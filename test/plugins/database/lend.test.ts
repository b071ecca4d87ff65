import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { lend, takeInTime, type Lender } from '../../../plugins/database/connections/lend.ts'
import { deferred } from '../../support/deferred.ts'

/** A pool whose connections have names, and what has happened to them. `waits` ends each take and check. */
function scene(trust: 'unknown' | 'dead', waits: Promise<unknown>, poolTimeout = 5) {
  const seen: string[] = []
  const note =
    <Result>(what: string, act: (name: string) => Result) =>
    (name = '') => {
      seen.push(`${what} ${name}`.trimEnd())
      return act(name)
    }
  const lender: Lender<string> = {
    watch: { trust: () => trust, isUnreachable: false } as never,
    poolTimeout: () => poolTimeout,
    take: note('take', () => waits.then(() => ({ connection: 'next' }))),
    linkOf: () => ({}) as never,
    check: note('check', () => waits),
    giveBack: note('give back', () => undefined),
    drop: note('drop', () => undefined),
  }
  const borrow = (connection: string, began = performance.now()) =>
    new Promise<string | Error | undefined>((resolve) => {
      void lend(lender, { connection }, began, (error, lent) => resolve(error ?? lent))
    })
  return { seen, borrow }
}

describe('A connection that is lent', () => {
  for (const [name, trust, late] of [
    ['whose check ends after its caller was refused', 'unknown', ['check first', 'give back first']],
    ['that the pool finds after its caller was refused', 'dead', ['drop first', 'take', 'give back next']],
  ] as const)
    it(`goes back to the pool, ${name}`, async () => {
      const { promise, resolve } = deferred()
      const { seen, borrow } = scene(trust, promise)
      const refusal = await borrow('first')
      expect(String(refusal)).to.include('No database connection became free')
      resolve()
      for (let turn = 0; turn < 3; turn++) await nextTurn()
      expect(seen).to.deep.equal(late)
    })

  it('is waited for no longer than poolTimeout, with the time that the first one needed', async () => {
    const { promise, resolve } = deferred()
    const { borrow } = scene('dead', promise, 3_600_000)
    const refusal = await borrow('first', performance.now() - 3_600_000)
    expect(String(refusal)).to.include('No database connection became free within 3600 s')
    resolve()
  })

  it('goes back to the pool that gives it after its caller was refused, without a check', async () => {
    let released = 0
    let give: (error: Error | null, connection?: { release(): void }) => void = () => undefined
    const refusal = await new Promise((resolve) => {
      takeInTime((callback) => (give = callback), { poolTimeout: () => 5 }, resolve)
    })
    expect(String(refusal)).to.include('No database connection became free')
    give(null, { release: () => void released++ })
    expect(released).to.equal(1)
  })
})
