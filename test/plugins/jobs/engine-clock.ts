import { expect } from 'chai'
import type { PlannedSchedule } from '@mortar/jobs'
import { LEASE, SPREAD } from '../../../plugins/jobs/engine.ts'
import { claimOne, NAMES, newJob, type EnginePair } from './engine-contract.ts'

export const EVERY_MINUTE: PlannedSchedule = {
  name: 'report',
  pattern: '* * * * *|UTC',
  next: (after) => (Math.floor(after / 60_000) + 1) * 60_000,
  runsMissed: true,
}

/** Further tests of an engine whose clock the test moves. */
export function testClock(pair: () => EnginePair): void {
  it('claims the oldest first, to the second', async () => {
    const { one, pass, now } = pair()
    const late = newJob({ due: { after: 60_000 } })
    const early = newJob({ due: { at: now() + 30_000 } })
    await one.add(late)
    await one.add(early)
    await pass(29_000)
    expect(await one.claim(NAMES, 5)).to.deep.equal([])
    await pass(61_000)
    expect((await claimOne(one))?.id).to.equal(early.id)
    expect((await claimOne(one))?.id).to.equal(late.id)
  })

  it('ends the leases of jobs that were claimed together one by one', async () => {
    const { one, now } = pair()
    for (let count = 0; count < 20; count++) await one.add(newJob())
    await one.claim(NAMES, 20)
    const ends = (await one.list()).map(({ dueAt }) => dueAt.getTime() - now())
    expect(Math.min(...ends)).to.be.at.least(LEASE)
    expect(Math.max(...ends)).to.be.lessThan(LEASE + SPREAD)
    expect(new Set(ends).size).to.be.greaterThan(1)
  })

  it('counts a job of a dead process as waiting, and removes it', async () => {
    const { one, pass } = pair()
    await one.add(newJob())
    const { id } = (await claimOne(one))!
    await pass(LEASE + SPREAD)
    expect(await one.counts()).to.include({ waiting: 1, running: 0 })
    expect(await one.list({ state: 'running' })).to.deep.equal([])
    expect(await one.remove(id)).to.equal(true)
  })

  it('keeps an old job for its time after it has failed', async () => {
    const { one, pass } = pair()
    await one.add(newJob())
    await pass(600_000)
    await one.settle((await claimOne(one))!, { is: 'failed', error: 'x' })
    await one.prune(300_000)
    expect(await one.list()).to.have.lengthOf(1)
  })

  it('counts how long the oldest has waited', async () => {
    const { one, pass } = pair()
    await one.add(newJob())
    await pass(5000)
    await one.add(newJob({ name: 'report' }))
    await one.add(newJob({ due: { after: 60_000 } }))
    expect(await one.counts()).to.deep.equal({ waiting: 3, running: 0, failed: 0, oldest: 5 })
    await claimOne(one)
    expect(await one.counts()).to.deep.equal({ waiting: 2, running: 1, failed: 0, oldest: 0 })
  })

  it('adds one job for all missed moments, or none, and those of the last minute in any case', async () => {
    const { one, pass, now } = pair()
    const hour = 3_600_000
    const hourly = { ...EVERY_MINUTE, next: (after: number) => (Math.floor(after / hour) + 1) * hour }
    const skipping = { ...hourly, runsMissed: false, name: 'send' }
    const both = [hourly, skipping]
    await one.addScheduled(both)
    await pass(4 * hour - (now() % hour) + 61_000)
    await one.addScheduled(both)
    expect(await one.waiting('report')).to.have.lengthOf(1)
    expect(await one.waiting('send')).to.deep.equal([])
    await pass(hour - 2000)
    await one.addScheduled(both)
    expect(await one.waiting('report')).to.have.lengthOf(2)
    expect(await one.waiting('send')).to.have.lengthOf(1)
    // Two moments were missed before one of the last minute.
    await pass(3 * hour - 29_000)
    await one.addScheduled(both)
    expect(await one.waiting('report')).to.have.lengthOf(3)
    expect(await one.waiting('send')).to.have.lengthOf(2)
  })

  it('stores a schedule that could not be stored before', async () => {
    const { one, pass } = pair()
    let isAway = true
    const next = (after: number): number | undefined => {
      if (isAway) throw new Error('away')
      return EVERY_MINUTE.next(after)
    }
    expect(await one.addScheduled([{ ...EVERY_MINUTE, next }]).catch(String)).to.equal('Error: away')
    isAway = false
    for (const minutes of [0, 1]) {
      await pass(60_000 * minutes)
      await one.addScheduled([{ ...EVERY_MINUTE, next }])
    }
    expect(await one.waiting('report')).to.have.lengthOf(1)
  })

  it('keeps schedules that no process has moved on for longer than failed jobs are kept', async () => {
    const { one, pass } = pair()
    await one.addScheduled([EVERY_MINUTE])
    await pass(600_000)
    await one.prune(300_000)
    await one.addScheduled([EVERY_MINUTE])
    expect(await one.waiting('report')).to.not.deep.equal([])
  })

  it('does not name a job that has failed among those that wait for their file', async () => {
    const { one } = pair()
    await one.add(newJob({ name: 'gone' }))
    const [claimed] = await one.claim(['gone'], 1)
    await one.settle(claimed!, { is: 'failed', error: 'x' })
    expect(await one.unknown(NAMES)).to.deep.equal([])
  })

  it('uses the schedule of the newest process, and leaves that of others alone', async () => {
    const { one, other, pass } = pair()
    const hourly = { ...EVERY_MINUTE, pattern: '0 * * * *|UTC', next: (after: number) => after + 3_600_000 }
    await one.addScheduled([EVERY_MINUTE])
    await other.addScheduled([hourly])
    await pass(61_000)
    await one.addScheduled([EVERY_MINUTE])
    await other.addScheduled([hourly])
    expect(await one.waiting('report')).to.deep.equal([])
    await pass(3_600_000)
    await other.addScheduled([hourly])
    expect(await one.waiting('report')).to.have.lengthOf(1)
  })

  it('goes on at the next start after the clock was a year ahead', async () => {
    const { one, other, pass } = pair()
    const year = 365 * 86_400_000
    await one.addScheduled([EVERY_MINUTE])
    await pass(year)
    await one.addScheduled([EVERY_MINUTE])
    await pass(-year)
    await other.addScheduled([EVERY_MINUTE])
    const before = (await one.waiting('report')).length
    await pass(61_000)
    await other.addScheduled([EVERY_MINUTE])
    expect(await one.waiting('report')).to.have.length.within(before + 1, before + 2)
  })

  it('goes on with the schedule of a process that runs after the newest one has gone', async () => {
    const { one, other, pass } = pair()
    const odd = { ...EVERY_MINUTE, pattern: '1-59/2 * * * *|UTC' }
    await one.addScheduled([EVERY_MINUTE])
    await other.addScheduled([odd])
    await pass(122_000)
    await one.addScheduled([EVERY_MINUTE])
    expect(await one.waiting('report')).to.have.length.within(1, 2)
    const before = (await one.waiting('report')).length
    await pass(60_000)
    await one.addScheduled([EVERY_MINUTE])
    expect(await one.waiting('report')).to.have.lengthOf(before + 1)
  })
}
