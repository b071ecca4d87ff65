import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { errorLine } from '../../../plugins/jobs/error-line.ts'
import type { ClaimedJob, JobEngine, NewJob, PlannedSchedule, Transaction } from '@mortar/jobs'

/** The engines of two processes over one store. */
export interface EnginePair {
  readonly one: JobEngine
  readonly other: JobEngine
  /** Milliseconds for which a claimed job belongs to its process. */
  readonly lease: number
  /** Lets at least this time pass on the clock of the store: a test clock jumps, an engine with its own clock waits. */
  pass(milliseconds: number): Promise<void>
  now(): number
  transact(work: (tx: Transaction) => Promise<void>): Promise<void>
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

export const NAMES = ['send', 'report']
export const claimOne = async (engine: JobEngine) => (await engine.claim(NAMES, 1))[0]
/** Milliseconds between two moments of a schedule, and two tries of `claimSoon`. */
const OFTEN = 400
const STEP = 30

/** The promises that every engine keeps, whatever clock it has. Call it inside a `describe`. */
export function testPromises(pair: () => EnginePair): void {
  /** Claims a job that is due: another process has it a moment later. */
  async function claimSoon(engine: JobEngine): Promise<ClaimedJob> {
    for (let tries = 0; tries < 200; tries++) {
      const claimed = await claimOne(engine)
      if (claimed !== undefined) return claimed
      await pair().pass(STEP)
    }
    throw new Error('No job can be claimed.')
  }

  it('gives a job to one of two processes, with its data, and not again when it is done', async () => {
    const { one, other, pass, lease } = pair()
    const data = JSON.stringify({ text: 'a\u0000b 😀 \ud800', list: [1, null] })
    const job = newJob({ data, requestId: 'r1', trace: '00-1-2-01' })
    expect(await one.add(job)).to.equal(true)
    const claimed = await claimSoon(other)
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
    await pass(2 * lease)
    expect(await claimOne(one)).to.equal(undefined)
    expect(await one.list()).to.deep.equal([])
    for (const change of ['retry', 'remove'] as const) expect(await one[change](job.id)).to.equal(false)
  })

  it('adds a job with the commit of a transaction, and never after its rollback', async () => {
    const { one, other, transact } = pair()
    const rollback = new Error('rollback')
    const [lost, kept] = [newJob({ key: 'k' }), newJob({ key: 'k' })]
    const refused = transact(async (tx) => {
      expect(await one.add(lost, tx)).to.equal(true)
      expect(await one.add(newJob({ name: 'report' }), tx)).to.equal(true)
      throw rollback
    })
    expect(await refused.catch((error: unknown) => error)).to.equal(rollback)
    expect(await one.counts()).to.include({ waiting: 0, running: 0, failed: 0 })
    await transact(async (tx) => void (await one.add(kept, tx)))
    expect((await claimSoon(other)).id).to.equal(kept.id)
    expect(await claimOne(one)).to.equal(undefined)
  })

  it('keeps data of a megabyte whole', async () => {
    const { one } = pair()
    const data = JSON.stringify('é'.repeat(500_000))
    await one.add(newJob({ data }))
    expect((await claimSoon(one)).data === data).to.equal(true)
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
        await Promise.all(claimed.map((job) => engine.settle(job, { is: 'done' })))
      }
    }
    await Promise.all(Array.from({ length: 20 }, (_, index) => drain(index % 2 === 0 ? one : other)))
    // A process may have lost each of its tries to another one.
    while (ids.length < jobs.length) ids.push((await claimSoon(one)).id)
    expect(ids.toSorted()).to.deep.equal(jobs.map(({ id }) => id).toSorted())
    expect(await claimOne(other)).to.equal(undefined)
  })

  it('waits for the moment of a job', async () => {
    const { one, pass, now } = pair()
    const [after, at] = [newJob({ due: { after: 1500 } }), newJob({ due: { at: now() + 1500 } })]
    await one.add(after)
    await one.add(at)
    expect(await one.claim(NAMES, 5)).to.deep.equal([])
    expect(await one.counts()).to.include({ waiting: 2, running: 0, oldest: 0 })
    await pass(1500)
    const claimed = [await claimSoon(one), await claimSoon(one)]
    expect(claimed.map(({ id }) => id).toSorted()).to.deep.equal([after.id, at.id].toSorted())
  })

  it('leaves names alone that a process does not know, and names them', async () => {
    const { one } = pair()
    await one.add(newJob({ name: 'gone' }))
    expect(await one.claim(NAMES, 5)).to.deep.equal([])
    expect(await one.claim([], 5)).to.deep.equal([])
    expect(await one.unknown(NAMES)).to.deep.equal(['gone'])
    expect(await one.unknown([])).to.deep.equal(['gone'])
  })

  it('finds a job whichever names were claimed before', async () => {
    const { one } = pair()
    await one.add(newJob())
    expect(await one.claim(['report'], 1)).to.deep.equal([])
    expect(await one.claim(['send'], 1)).to.have.lengthOf(1)
  })

  it('gives the job of a dead process to another one, whose result alone counts', async () => {
    const { one, other, pass, lease } = pair()
    await one.add(newJob({ key: 'k' }))
    const lost = await claimSoon(one)
    // Each renewal begins a lease, and none adds to the lease before it.
    for (let count = 0; count < 3; count++) expect(await one.renew(lost)).to.equal(true)
    await pass(0.7 * lease)
    expect(await one.renew(lost)).to.equal(true)
    await pass(0.7 * lease)
    expect(await claimOne(other)).to.equal(undefined)
    await pass(0.4 * lease)
    const taken = await claimSoon(other)
    expect(taken.attempt).to.equal(2)
    expect(await one.retry(taken.id)).to.equal(false)
    expect(await one.renew(lost)).to.equal(false)
    for (const outcome of [{ is: 'done' }, { is: 'failed', error: 'x' }, { is: 'returned' }] as const)
      expect(await one.settle(lost, outcome)).to.equal(false)
    expect(await other.add(newJob({ key: 'k' }))).to.equal(false)
    expect(await other.settle(taken, { is: 'repeated', after: 0, error: 'x' })).to.equal(true)
    const third = await claimSoon(other)
    expect(third.attempt).to.equal(3)
    expect(await other.settle(third, { is: 'failed', error: 'x' })).to.equal(true)
    expect(await one.retry(taken.id)).to.equal(true)
    const again = await claimSoon(one)
    expect(again).to.include({ id: taken.id, attempt: 1 })
    expect(await one.settle(again, { is: 'done' })).to.equal(true)
    expect(await other.list()).to.deep.equal([])
  })

  it('ends attempts that are done together, each by its own result', async () => {
    const { one, other, pass, lease } = pair()
    await one.add(newJob())
    const lost = await claimSoon(one)
    await pass(1.5 * lease)
    const again = await claimSoon(one)
    await one.add(newJob())
    const second = await claimSoon(one)
    const done = [lost, again, second].map((each) => one.settle(each, { is: 'done' }))
    expect(await Promise.all(done)).to.deep.equal([false, true, true])
    expect(await other.list()).to.deep.equal([])
  })

  it('repeats a job after a delay, and returns one without counting the attempt', async () => {
    const { one, other, pass } = pair()
    await one.add(newJob())
    await one.settle(await claimSoon(one), { is: 'repeated', after: 1500, error: 'Error: no' })
    expect((await one.list())[0]).to.include({ state: 'waiting', attempt: 1, error: 'Error: no' })
    expect(await claimOne(one)).to.equal(undefined)
    await pass(1500)
    const second = await claimSoon(one)
    expect(second.attempt).to.equal(2)
    expect(await one.settle(second, { is: 'returned' })).to.equal(true)
    const third = await claimSoon(other)
    expect(third.attempt).to.equal(2)
    await other.settle(third, { is: 'returned', after: 1500 })
    expect(await claimOne(one)).to.equal(undefined)
    await pass(1500)
    const fourth = await claimSoon(other)
    expect(fourth.attempt).to.equal(2)
    await other.settle(fourth, { is: 'repeated', after: 0, error: 'Error: again' })
    expect((await claimSoon(other)).attempt).to.equal(3)
  })

  it('stores an error with half a character', async () => {
    const { one } = pair()
    await one.add(newJob())
    const error = errorLine(new Error(`${'x'.repeat(492)}\u{1f600}`))
    expect(await one.settle(await claimSoon(one), { is: 'failed', error })).to.equal(true)
  })

  it('keeps a failed job, which can be listed, retried and deleted', async () => {
    const { one, other, pass, now, lease } = pair()
    const job = newJob({ key: 'k' })
    const added = now()
    await one.add(job)
    const claimed = await claimSoon(one)
    await pass(STEP)
    const ended = now()
    await one.settle(claimed, { is: 'failed', error: 'Error: no' })
    await pass(2 * lease)
    expect(await claimOne(one)).to.equal(undefined)
    const [failed, ...others] = await other.list({ state: 'failed', name: 'send' })
    expect(failed).to.include({ id: job.id, name: 'send', state: 'failed', attempt: 1, error: 'Error: no' })
    expect(failed!.dueAt.getTime()).to.be.within(ended, now())
    expect(failed!.addedAt.getTime()).to.be.within(added, ended)
    expect(others).to.deep.equal([])
    expect(await one.list({ state: 'failed', name: 'report' })).to.deep.equal([])
    expect(await one.counts()).to.deep.equal({ waiting: 0, running: 0, failed: 1, oldest: 0 })
    expect(await one.retry(randomUUID())).to.equal(false)
    expect(await one.remove(randomUUID())).to.equal(false)
    expect(await other.retry(job.id)).to.equal(true)
    expect(await one.retry(job.id)).to.equal(false)
    expect((await one.list())[0]).to.include({ state: 'waiting', attempt: 0, error: undefined })
    const again = await claimSoon(one)
    expect(again.attempt).to.equal(1)
    expect(await one.remove(job.id)).to.equal(false)
    await one.settle(again, { is: 'failed', error: 'Error: no' })
    expect(await one.remove(job.id)).to.equal(true)
    expect(await one.list()).to.deep.equal([])
  })

  it('deletes a job that waits', async () => {
    const { one, other } = pair()
    const [due, later] = [newJob(), newJob({ due: { after: 60_000 }, key: 'k' })]
    await one.add(due)
    await one.add(later)
    await one.settle(await claimSoon(one), { is: 'repeated', after: 60_000, error: 'x' })
    for (const { id } of [due, later]) {
      expect(await other.remove(id)).to.equal(true)
      expect(await one.remove(id)).to.equal(false)
    }
    expect(await one.add(newJob({ key: 'k' }))).to.equal(true)
    expect(await one.counts()).to.include({ waiting: 1, running: 0, failed: 0 })
  })

  it('counts and lists what waits, runs and failed', async () => {
    const { one, pass } = pair()
    expect(await one.counts()).to.deep.equal({ waiting: 0, running: 0, failed: 0, oldest: 0 })
    await one.add(newJob({ data: '"first"' }))
    await pass(STEP)
    await one.add(newJob({ name: 'report' }))
    await one.add(newJob({ due: { after: 60_000 }, data: '"later"' }))
    expect(await one.waiting('send')).to.deep.equal(['"first"', '"later"'])
    expect(await one.counts()).to.include({ waiting: 3, running: 0, failed: 0 })
    const claimed = await claimSoon(one)
    expect(await one.counts()).to.include({ waiting: 2, running: 1, failed: 0 })
    const [running, ...others] = await one.list({ state: 'running' })
    expect(running).to.include({ id: claimed.id, attempt: 1, error: undefined })
    expect(others).to.deep.equal([])
    expect(await one.list({ state: 'waiting', limit: 1 })).to.have.lengthOf(1)
    expect(await one.list()).to.have.lengthOf(3)
    expect(JSON.stringify(await one.list())).to.not.contain('later')
  })

  it('lists jobs in the order of their moments, as many as are wanted', async () => {
    const { one, pass } = pair()
    const jobs = [60_000, 30_000, 0].map((after) => newJob({ due: { after }, data: String(after) }))
    for (const job of jobs) {
      await one.add(job)
      await pass(STEP)
    }
    expect(await one.waiting('send')).to.deep.equal(['60000', '30000', '0'])
    const order = jobs.map(({ id }) => id).toReversed()
    for (const limit of [1, 2, 3]) {
      const listed = await one.list({ state: 'waiting', limit })
      expect(listed.map(({ id }) => id)).to.deep.equal(order.slice(0, limit))
      // An engine with a store of its own has the job there from now on.
      await one.claim(['report'], 1)
    }
  })

  it('counts the age of the oldest waiting job', async () => {
    const { one, pass, now } = pair()
    await one.add(newJob())
    // An engine with a store of its own has the job there from now on.
    await one.claim(['report'], 1)
    const added = now()
    await pass(300)
    const later = now()
    await one.add(newJob())
    await one.claim(['report'], 1)
    expect(Math.round(1000 * (await one.counts()).oldest)).to.be.at.least(later - added)
  })

  it('counts the age of a waiting job from the moment when it is due again', async () => {
    const { one, pass, now } = pair()
    const jobs = [newJob(), newJob()]
    for (const job of jobs) await one.add(job)
    const [first, second] = [await claimSoon(one), await claimSoon(one)]
    await pass(STEP)
    const dueOf = async (id: string) =>
      (await one.list({ state: 'waiting' })).find((job) => job.id === id)!.dueAt.getTime()
    const begun = now()
    await one.settle(first, { is: 'repeated', after: 5000, error: 'x' })
    expect(await dueOf(first.id)).to.be.at.least(begun + 5000)
    expect((await one.counts()).oldest).to.equal(0)
    await one.settle(second, { is: 'failed', error: 'x' })
    await pass(1000)
    const retried = now()
    await one.retry(second.id)
    expect(await dueOf(second.id)).to.be.at.least(retried)
    const { oldest } = await one.counts()
    expect(1000 * oldest).to.be.within(0, now() - retried)
    // The process stops.
    await pass(STEP)
    const third = await claimSoon(one)
    const returned = now()
    await one.settle(third, { is: 'returned' })
    expect(await dueOf(third.id)).to.be.at.least(returned)
  })

  it('adds one job for a key while it waits or runs, byte by byte and for each name', async () => {
    const { one, other, pass } = pair()
    const [first, second] = await Promise.all([
      one.add(newJob({ key: 'é' })),
      other.add(newJob({ key: 'é' })),
    ])
    expect([first, second].filter(Boolean)).to.have.lengthOf(1)
    expect(await one.add(newJob({ key: 'e' }))).to.equal(true)
    expect(await one.add(newJob({ key: 'é', name: 'report' }))).to.equal(true)
    const claimed: ClaimedJob[] = []
    while (claimed.length < 2) {
      claimed.push(...(await one.claim(['send'], 5)))
      await pass(STEP)
    }
    expect(await one.add(newJob({ key: 'é' }))).to.equal(false)
    await one.settle(claimed[0]!, { is: 'repeated', after: 0, error: 'x' })
    // A handler that ignores its signal ends after its job was given back.
    expect(await one.settle(claimed[0]!, { is: 'done' })).to.equal(false)
    expect(await one.add(newJob({ key: 'é' }))).to.equal(false)
    expect(await one.add(newJob({ key: 'e' }))).to.equal(false)
    await one.settle(claimed[1]!, { is: 'failed', error: 'x' })
    await pass(STEP)
    while (claimed.length < 3) {
      claimed.push(...(await one.claim(['send'], 5)))
      await pass(STEP)
    }
    await one.settle(claimed[2]!, { is: 'done' })
    expect(await one.add(newJob({ key: 'é' }))).to.equal(true)
    expect(await one.add(newJob({ key: 'e' }))).to.equal(true)
  })

  it('deletes failed jobs after their time', async () => {
    const { one, pass } = pair()
    for (const name of NAMES) await one.add(newJob({ name }))
    for (const _name of NAMES) await one.settle(await claimSoon(one), { is: 'failed', error: 'x' })
    await pass(50)
    await one.prune(60_000)
    expect(await one.list()).to.have.lengthOf(2)
    await pass(50)
    await one.prune(50)
    expect(await one.list()).to.deep.equal([])
  })

  it('adds each moment of a schedule by exactly one of two processes', async () => {
    const { one, other, pass, now } = pair()
    const often: PlannedSchedule = {
      name: 'report',
      pattern: 'often|UTC',
      next: (after) => (Math.floor(after / OFTEN) + 1) * OFTEN,
      runsMissed: true,
    }
    const number = (): number => Math.floor(now() / OFTEN)
    const before = number()
    await Promise.all([one.addScheduled([often]), other.addScheduled([often])])
    const first = number()
    let begun = first
    for (let moment = 0; moment < 3; moment++) {
      await pass(OFTEN)
      begun = number()
      await Promise.all([one, other, one].map((engine) => engine.addScheduled([often])))
    }
    const last = number()
    const jobs = await one.list()
    expect(jobs.length)
      .to.be.within(3, last - before)
      .and.at.least(begun - first)
    expect(jobs.every(({ state, name }) => state === 'waiting' && name === 'report')).to.equal(true)
    expect(await one.waiting('report')).to.have.lengthOf(jobs.length)
  })
}
