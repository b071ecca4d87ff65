import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { JobEngine, NewJob, PlannedSchedule } from '@mortar/jobs'
import { LEASE, SPREAD } from '../../../plugins/jobs/engine.ts'

/** The engines of two processes over one store, whose common clock the test moves. */
export interface EnginePair {
  readonly one: JobEngine
  readonly other: JobEngine
  /** Moves the clock on by milliseconds. */
  advance(milliseconds: number): void
  now(): number
}

export const newJob = (given: Partial<NewJob> = {}): NewJob => ({
  id: randomUUID(),
  name: 'send',
  key: undefined,
  data: '{}',
  due: { after: 0 },
  requestId: undefined,
  trace: undefined,
  ...given,
})

const NAMES = ['send', 'report']
const EVERY_MINUTE: PlannedSchedule = {
  name: 'report',
  pattern: '* * * * *|UTC',
  next: (after) => (Math.floor(after / 60_000) + 1) * 60_000,
  runsMissed: true,
}

/** The tests of every engine. Call it inside a `describe`. */
export function testEngine(pair: () => EnginePair): void {
  const claimOne = async (engine: JobEngine) => (await engine.claim(NAMES, 1))[0]

  it('gives a job to one of two processes, with its data, and not again when it is done', async () => {
    const { one, other, advance } = pair()
    const data = JSON.stringify({ text: 'a\u0000b 😀 \ud800', list: [1, null] })
    const job = newJob({ data, requestId: 'r1', trace: '00-1-2-01' })
    expect(await one.add(job)).to.equal(true)
    const claimed = (await claimOne(other))!
    expect(claimed).to.deep.equal({
      id: job.id,
      name: 'send',
      data,
      attempt: 1,
      requestId: 'r1',
      trace: '00-1-2-01',
    })
    expect(await claimOne(one)).to.equal(undefined)
    expect(await other.settle(claimed, { is: 'done' })).to.equal(true)
    advance(2 * LEASE)
    expect(await claimOne(one)).to.equal(undefined)
    expect(await one.list()).to.deep.equal([])
  })

  it('keeps data of a megabyte whole', async () => {
    const { one } = pair()
    const data = JSON.stringify('é'.repeat(500_000))
    await one.add(newJob({ data }))
    expect((await claimOne(one))!.data === data).to.equal(true)
  })

  it('gives 100 jobs to 20 claims that run together, each once', async () => {
    const { one, other } = pair()
    const jobs = Array.from({ length: 100 }, () => newJob())
    for (const job of jobs) await one.add(job)
    const ids: string[] = []
    const drain = async (engine: JobEngine): Promise<void> => {
      for (;;) {
        const claimed = await engine.claim(NAMES, 3)
        if (claimed.length === 0) return
        ids.push(...claimed.map(({ id }) => id))
      }
    }
    await Promise.all(Array.from({ length: 20 }, (_, index) => drain(index % 2 === 0 ? one : other)))
    // A process may have lost each of its tries to another one.
    await drain(one)
    expect(ids.toSorted()).to.deep.equal(jobs.map(({ id }) => id).toSorted())
  })

  it('waits for the moment of a job, and claims the oldest first', async () => {
    const { one, advance, now } = pair()
    const late = newJob({ due: { after: 60_000 } })
    const early = newJob({ due: { at: now() + 30_000 } })
    await one.add(late)
    await one.add(early)
    expect(await one.claim(NAMES, 5)).to.deep.equal([])
    advance(90_000)
    expect((await claimOne(one))?.id).to.equal(early.id)
    expect((await claimOne(one))?.id).to.equal(late.id)
  })

  it('leaves names alone that a process does not know, and names them', async () => {
    const { one } = pair()
    await one.add(newJob({ name: 'gone' }))
    expect(await one.claim(NAMES, 5)).to.deep.equal([])
    expect(await one.claim([], 5)).to.deep.equal([])
    expect(await one.unknown(NAMES)).to.deep.equal(['gone'])
    expect(await one.unknown([])).to.deep.equal(['gone'])
  })

  it('gives the job of a dead process to another one, whose result alone counts', async () => {
    const { one, other, advance } = pair()
    await one.add(newJob())
    const lost = (await claimOne(one))!
    advance(LEASE - 1000)
    expect(await one.renew(lost)).to.equal(true)
    advance(LEASE - 1000)
    expect(await claimOne(other)).to.equal(undefined)
    advance(2000)
    const taken = (await claimOne(other))!
    expect(taken.attempt).to.equal(2)
    expect(await one.renew(lost)).to.equal(false)
    for (const outcome of [{ is: 'done' }, { is: 'failed', error: 'x' }, { is: 'returned' }] as const)
      expect(await one.settle(lost, outcome)).to.equal(false)
    expect(await other.settle(taken, { is: 'done' })).to.equal(true)
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

  it('repeats a job after a delay, and returns one without counting the attempt', async () => {
    const { one, other, advance } = pair()
    await one.add(newJob())
    await one.settle((await claimOne(one))!, { is: 'repeated', after: 10_000, error: 'Error: no' })
    expect((await one.list())[0]).to.include({ state: 'waiting', attempt: 1, error: 'Error: no' })
    advance(9000)
    expect(await claimOne(one)).to.equal(undefined)
    advance(1000)
    const second = (await claimOne(one))!
    expect(second.attempt).to.equal(2)
    await one.settle(second, { is: 'returned' })
    expect((await claimOne(other))?.attempt).to.equal(2)
  })

  it('keeps a failed job, which can be listed, retried and deleted', async () => {
    const { one, advance } = pair()
    const job = newJob({ key: 'k' })
    await one.add(job)
    await one.settle((await claimOne(one))!, { is: 'failed', error: 'Error: no' })
    advance(2 * LEASE)
    expect(await claimOne(one)).to.equal(undefined)
    expect(await one.list({ state: 'failed', name: 'send' })).to.have.lengthOf(1)
    expect(await one.list({ state: 'failed', name: 'report' })).to.deep.equal([])
    expect(await one.counts()).to.include({ waiting: 0, running: 0, failed: 1 })
    expect(await one.retry(randomUUID())).to.equal(false)
    expect(await one.retry(job.id)).to.equal(true)
    expect(await one.retry(job.id)).to.equal(false)
    const again = (await claimOne(one))!
    expect(again.attempt).to.equal(1)
    expect(await one.remove(job.id)).to.equal(false)
    await one.settle(again, { is: 'failed', error: 'Error: no' })
    expect(await one.remove(job.id)).to.equal(true)
    expect(await one.list()).to.deep.equal([])
  })

  it('counts what waits, runs and failed, and how long the oldest has waited', async () => {
    const { one, advance } = pair()
    expect(await one.counts()).to.deep.equal({ waiting: 0, running: 0, failed: 0, oldest: 0 })
    await one.add(newJob())
    advance(5000)
    await one.add(newJob({ name: 'report' }))
    await one.add(newJob({ due: { after: 60_000 } }))
    expect(await one.counts()).to.deep.equal({ waiting: 3, running: 0, failed: 0, oldest: 5 })
    await claimOne(one)
    expect(await one.counts()).to.deep.equal({ waiting: 2, running: 1, failed: 0, oldest: 0 })
    expect(await one.list({ state: 'running' })).to.have.lengthOf(1)
    expect(await one.list({ state: 'waiting', limit: 1 })).to.have.lengthOf(1)
  })

  it('adds one job for a key while it waits or runs, byte by byte and for each name', async () => {
    const { one, other } = pair()
    const [first, second] = await Promise.all([
      one.add(newJob({ key: 'é' })),
      other.add(newJob({ key: 'é' })),
    ])
    expect([first, second].filter(Boolean)).to.have.lengthOf(1)
    expect(await one.add(newJob({ key: 'e' }))).to.equal(true)
    expect(await one.add(newJob({ key: 'é', name: 'report' }))).to.equal(true)
    const claimed = (await one.claim(['send'], 5)).toSorted((a, b) => a.attempt - b.attempt)
    expect(claimed).to.have.lengthOf(2)
    expect(await one.add(newJob({ key: 'é' }))).to.equal(false)
    await one.settle(claimed[0]!, { is: 'done' })
    await one.settle(claimed[1]!, { is: 'failed', error: 'x' })
    expect(await one.add(newJob({ key: 'é' }))).to.equal(true)
    expect(await one.add(newJob({ key: 'e' }))).to.equal(true)
  })

  it('deletes failed jobs after their time', async () => {
    const { one, advance } = pair()
    await one.add(newJob())
    await one.settle((await claimOne(one))!, { is: 'failed', error: 'x' })
    advance(1000)
    await one.prune(2000)
    expect(await one.list()).to.have.lengthOf(1)
    advance(1001)
    await one.prune(2000)
    expect(await one.list()).to.deep.equal([])
  })

  it('adds each moment of a schedule by exactly one of two processes', async () => {
    const { one, other, advance } = pair()
    await Promise.all([one.addScheduled([EVERY_MINUTE]), other.addScheduled([EVERY_MINUTE])])
    expect(await one.waiting('report')).to.deep.equal([])
    for (let minute = 0; minute < 3; minute++) {
      advance(60_000)
      await Promise.all([one, other, one].map((engine) => engine.addScheduled([EVERY_MINUTE])))
    }
    expect(await one.waiting('report')).to.have.lengthOf(3)
    expect(await one.list()).to.have.lengthOf(3)
    expect((await one.list()).every(({ state }) => state === 'waiting')).to.equal(true)
  })

  it('adds one job for all missed moments, or none, and those of the last minute in any case', async () => {
    const { one, advance, now } = pair()
    const hour = 3_600_000
    const hourly = { ...EVERY_MINUTE, next: (after: number) => (Math.floor(after / hour) + 1) * hour }
    const skipping = { ...hourly, runsMissed: false, name: 'send' }
    const both = [hourly, skipping]
    await one.addScheduled(both)
    advance(4 * hour - (now() % hour) + 61_000)
    await one.addScheduled(both)
    expect(await one.waiting('report')).to.have.lengthOf(1)
    expect(await one.waiting('send')).to.deep.equal([])
    advance(hour - 2000)
    await one.addScheduled(both)
    expect(await one.waiting('report')).to.have.lengthOf(2)
    expect(await one.waiting('send')).to.have.lengthOf(1)
  })

  it('uses the schedule of the newest process, and leaves that of others alone', async () => {
    const { one, other, advance } = pair()
    const hourly = { ...EVERY_MINUTE, pattern: '0 * * * *|UTC', next: (after: number) => after + 3_600_000 }
    await one.addScheduled([EVERY_MINUTE])
    await other.addScheduled([hourly])
    advance(61_000)
    await one.addScheduled([EVERY_MINUTE])
    await other.addScheduled([hourly])
    expect(await one.waiting('report')).to.deep.equal([])
    advance(3_600_000)
    await other.addScheduled([hourly])
    expect(await one.waiting('report')).to.have.lengthOf(1)
  })
}
