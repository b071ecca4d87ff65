import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createRotationClock } from '../../../../plugins/auth/tokens/rotation-clock.ts'
import { systemClock } from 'mortar/kit'
import { TestClock } from '../support/clock.ts'

const DATABASE_TIME = 1_000_000

describe('the clock of the rotations', () => {
  const database = { now: async () => DATABASE_TIME }

  it("is the database's for the system's clock: it dates rotations and judges their age", async () => {
    const clock = createRotationClock(systemClock, database)
    expect(clock.stamp()).to.equal(undefined)
    expect(await clock.now()).to.equal(DATABASE_TIME)
    expect(clock.roughly()).to.be.closeTo(Date.now(), 30_000)
  })

  it('counts the time since an arrival back from the time of the database', async () => {
    const arrivedAt = createRotationClock(systemClock, database).startedAt()
    await wait(2)
    expect(arrivedAt(DATABASE_TIME))
      .to.be.below(DATABASE_TIME)
      .and.above(DATABASE_TIME - 10_000)
  })

  it('is a clock of its own that an application has given, and asks no database', async () => {
    const own = new TestClock()
    const clock = createRotationClock(own, { now: () => Promise.reject(new Error('asked')) })
    const before = clock.stamp()!
    const arrivedAt = clock.startedAt()
    own.advance(600)
    expect([clock.stamp(), await clock.now(), clock.roughly()]).to.deep.equal(
      [1, 2, 3].map(() => before + 600_000),
    )
    expect(arrivedAt(clock.stamp()!)).to.equal(before)
  })

  it("is near the machine's at its first use, and the same for every application with that clock", () => {
    const own = new TestClock(0)
    const first = createRotationClock(own, database)
    expect(first.roughly()).to.be.closeTo(Date.now(), 30_000)
    own.advance(600)
    const second = createRotationClock(own, database)
    expect(second.roughly()).to.equal(first.roughly())
    expect(second.roughly()).to.be.closeTo(Date.now() + 600_000, 30_000)
  })
})
