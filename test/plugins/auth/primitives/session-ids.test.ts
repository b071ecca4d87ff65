import { expect } from 'chai'
import * as fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import { createSessionIds, momentOf } from '../../../../plugins/auth/session-ids.ts'
import { TestClock } from './clock.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe('session ids', () => {
  it('are UUIDs of version 7 that say when the session began', () => {
    const clock = new TestClock()
    const id = createSessionIds({ clock }).next()
    expect(id).to.match(UUID)
    expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).to.equal(clock.now())
  })

  it('increase while the clock stands still, beyond what the counter of one millisecond holds', () => {
    const ids = createSessionIds({ clock: new TestClock() })
    const all = Array.from({ length: 10_000 }, () => ids.next())
    expect(all).to.deep.equal(all.toSorted())
    expect(new Set(all.map(momentOf)).size).to.equal(10_000)
    for (const id of all) expect(id).to.match(UUID)
  })

  it('increase however the clock moves, backwards too', () => {
    const steps = fc.array(fc.oneof(fc.integer({ min: -5, max: 5 }), fc.integer()), { maxLength: 200 })
    fc.assert(
      fc.property(steps, (moves) => {
        const clock = new TestClock()
        const ids = createSessionIds({ clock })
        const moments = moves.map((move) => {
          clock.time = Math.max(0, clock.time + move)
          return momentOf(ids.next())!
        })
        return moments.every((moment, index) => index === 0 || moments[index - 1]! < moment)
      }),
      { numRuns: 300 },
    )
  })

  it('of two processes differ in the same millisecond', () => {
    const clock = new TestClock()
    expect(createSessionIds({ clock }).next()).to.not.equal(createSessionIds({ clock }).next())
  })

  it('of another make say no time', () => {
    for (const id of [randomUUID(), '', 'session', '0196A5B0-0000-7000-8000-000000000001', 'x'.repeat(1000)])
      expect(momentOf(id)).to.equal(null)
  })
})
