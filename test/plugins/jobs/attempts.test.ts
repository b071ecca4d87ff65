import { getEventListeners, once } from 'node:events'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import { mock } from 'node:test'
import { expect } from 'chai'
import type { JobQueue } from 'mortar/kit'
import { boundedWork } from '../../../plugins/jobs/bounded-work.ts'
import { writeData } from '../../../plugins/jobs/data.ts'
import { addDue, dueMoments } from '../../../plugins/jobs/database/schedules.ts'
import { LEASE, type ClaimedJob, type JobEngine, type Outcome } from '../../../plugins/jobs/engine.ts'
import { errorLine } from '../../../plugins/jobs/error-line.ts'
import { lookRegularly } from '../../../plugins/jobs/look-regularly.ts'
import { createRegistry } from '../../../plugins/jobs/registry.ts'
import { runJob } from '../../../plugins/jobs/run-job.ts'
import { createWorker } from '../../../plugins/jobs/worker.ts'
import { queuedMailer } from '../../../plugins/mail/queued-mailer.ts'
import { readOptions } from '../../../plugins/webhooks/options.ts'
import { createWebhooks } from '../../../plugins/webhooks/service.ts'
import { deferred } from '../../support/deferred.ts'
import { UNREADABLE } from '../../support/unreadable-error.ts'
import { keptLog } from './applications.ts'

const outages = { begin: () => undefined, end: () => undefined, log: () => undefined } as never
const services = { outages } as never
const claimedJob = (name: string, id = name): ClaimedJob => ({
  id,
  name,
  data: 'null',
  attempt: 1,
  requestId: undefined,
  trace: undefined,
})

/** Names of jobs with the work of a test. `limited` runs once at a time. */
function registryOf(work: (signal: AbortSignal) => Promise<unknown>) {
  const registry = createRegistry()
  registry.define('free', (_data, signal) => work(signal))
  registry.define('limited', (_data, signal) => work(signal), { concurrency: 1 })
  return registry
}

describe('an attempt of a job', () => {
  afterEach(() => mock.reset())

  it('goes on while its lease cannot be renewed, and is aborted when another process has it', async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    const end = deferred()
    const begun = deferred<AbortSignal>()
    const registry = registryOf((signal) => {
      begun.resolve(signal)
      return end.promise
    })
    const renewals: (() => Promise<boolean>)[] = [
      () => Promise.reject(new Error('away')),
      async () => true,
      async () => false,
    ]
    const engine = { renew: () => renewals.shift()!(), settle: async () => true } as never
    const stopping = new AbortController()
    const parts = { engine, services, logger: keptLog().logger, stopping: stopping.signal }
    const attempt = runJob(claimedJob('free'), registry.find('free')!, parts)
    const signal = await begun.promise
    for (const isAborted of [false, false, true]) {
      // Two renewals may fail before the lease ends.
      mock.timers.tick(LEASE / 3)
      await nextTurn()
      expect(signal.aborted).to.equal(isAborted)
    }
    end.resolve()
    await attempt
    expect(getEventListeners(stopping.signal, 'abort')).to.deep.equal([])
  })
})

describe('the data of a job', () => {
  it('has at most 1 MiB of UTF-8', async () => {
    const job = { name: 'free', validate: (data: unknown) => data }
    const sizes = [524_287, 524_288].map((count) => writeData(job, 'é'.repeat(count)))
    const [fits, refused] = await Promise.allSettled(sizes)
    expect([fits!.status, refused!.status]).to.deep.equal(['fulfilled', 'rejected'])
  })
})

describe('a job whose time is over before its data has been validated', () => {
  it('does not begin, because nothing would end its wait', async () => {
    let begun = 0
    const registry = registryOf(async () => ++begun)
    const { signal } = new AbortController()
    const parts = { engine: { settle: async () => true } as never, services, logger: keptLog().logger }
    const job = { ...registry.find('free')!, timeout: 5, validate: () => wait(50) }
    const { error } = await runJob(claimedJob('free'), job, { ...parts, stopping: signal })
    expect([begun, (error as Error).message]).to.deep.equal([0, 'The job took longer than 5 ms.'])
  })
})

describe('a job that may take a month', () => {
  it('is not aborted, although no timer of Node is that long', async () => {
    const registry = registryOf(async (signal) => {
      await wait(10)
      if (signal.aborted) throw signal.reason
    })
    const { signal } = new AbortController()
    const parts = { engine: { settle: async () => true } as never, services, logger: keptLog().logger }
    const job = { ...registry.find('free')!, timeout: 30 * 86_400_000 }
    const { outcome } = await runJob(claimedJob('free'), job, { ...parts, stopping: signal })
    expect(outcome).to.deep.equal({ is: 'done' })
  })
})

describe('the work of another brick', () => {
  /** Seconds of a request or a transport, and the definition of the work that waits for it. */
  const WORK: Readonly<Record<string, [number, (queue: JobQueue) => unknown]>> = {
    'a mail': [600, (queue) => queuedMailer({} as never, queue, 600)],
    'a webhook': [
      20,
      (jobQueue) => createWebhooks(readOptions({ events: [], timeout: '20s' }), { jobQueue } as never),
    ],
  }
  for (const [what, [seconds, define]] of Object.entries(WORK))
    it(`has some minutes for the database beside its request: ${what}`, () => {
      const limits: unknown[] = []
      define({
        define(name, _work, options) {
          if (name !== 'webhooks:send') limits.push(options?.timeout)
          return async () => ({ id: name })
        },
      })
      expect(limits).to.deep.equal([seconds + 240])
    })
})

describe('a job that fails often', () => {
  it('is repeated after an hour at most, unless its brick has another limit', async () => {
    const registry = registryOf(() => Promise.reject(new Error('away')))
    const { signal: stopping } = new AbortController()
    const { logger } = keptLog()
    const parts = { engine: { settle: async () => true } as never, services, logger, stopping }
    const job = { ...registry.find('free')!, attempts: 100, backoff: 10_000 }
    const after = async (attempt: number, longestBackoff?: number) => {
      const own = { ...job, longestBackoff } as typeof job
      const { outcome } = await runJob({ ...claimedJob('free'), attempt }, own, parts)
      return (outcome as { readonly after?: number }).after
    }
    const delays = [await after(1), await after(9), await after(10), await after(90), await after(90, 60_000)]
    expect(delays).to.deep.equal([10_000, 2_560_000, 3_600_000, 3_600_000, 60_000])
  })

  it('is repeated, and has one line, although its error cannot be read or is a promise', async () => {
    const broken = Object.defineProperty(new Error('broken'), 'permanent', { get: () => expect.fail() })
    const odd = [broken, UNREADABLE, deferred().promise, { postponedFor: Number.NaN }, undefined]
    const { logger, lines } = keptLog()
    const stopping = new AbortController().signal
    const parts = { engine: { settle: async () => true } as never, services, logger, stopping }
    for (const thrown of odd) {
      const job = registryOf(async () => Promise.reject(thrown)).find('free')!
      expect((await runJob(claimedJob('free'), job, parts)).outcome.is).to.equal('repeated')
    }
    expect(lines.map(({ text }) => text)).to.deep.equal(odd.map(() => 'Job failed and will be repeated'))
  })
})

describe('a job whose process has ended in each attempt', () => {
  it('fails without another attempt', async () => {
    let runs = 0
    const registry = registryOf(async () => void runs++)
    const settled: Outcome[] = []
    const engine = {
      settle: async (_job: ClaimedJob, outcome: Outcome) => settled.push(outcome) > 0,
    } as never
    const { signal } = new AbortController()
    const job = { ...registry.find('free')!, attempts: 2 }
    const parts = { engine, services, logger: keptLog().logger, stopping: signal }
    await runJob({ ...claimedJob('free'), attempt: 3 }, job, parts)
    expect([runs, settled.map(({ is }) => is)]).to.deep.equal([0, ['failed']])
  })
})

describe('a worker', () => {
  afterEach(() => {
    mock.reset()
  })

  /** A worker of two places and an engine that gives as many jobs as it is asked for. */
  function workerWith(
    work: (signal: AbortSignal) => Promise<unknown>,
    addScheduled = async (): Promise<void> => undefined,
  ) {
    let count = 0
    const settled: unknown[] = []
    const lines: string[] = []
    const prunes: (readonly [keep: number, at: number])[] = []
    const log = ({ message }: { readonly message: string }): void => void lines.push(message)
    const engine: Partial<JobEngine> = {
      claim: async (names, limit) =>
        names.flatMap((name) => Array.from({ length: limit }, () => claimedJob(name, String(++count)))),
      settle: async (_job, outcome) => settled.push(outcome.is) > 0,
      addScheduled,
      prune: async (keep) => void prunes.push([keep, performance.now()]),
    }
    const own = { outages: { begin: () => undefined, end: () => undefined, log } } as never
    const parts = { engine: engine as JobEngine, services: own, logger: keptLog().logger }
    const worker = createWorker(registryOf(work), parts, { concurrency: 2, keep: 1000, patience: 0 })
    return { worker, settled, lines, prunes, claimed: () => count }
  }

  it('claims no more than it has places, whatever groups of names have some, and returns what does not end', async () => {
    const end = deferred()
    const { worker, settled, claimed } = workerWith(() => end.promise)
    worker.looks.start()
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    expect(claimed()).to.equal(2)
    await worker.stop()
    expect(settled).to.deep.equal(['returned', 'returned'])
    end.resolve()
    await nextTurn()
  })

  it('keeps the results of jobs that complete a moment after their signals were aborted', async () => {
    const { worker, settled, claimed } = workerWith((signal) => once(signal, 'abort').then(() => wait(50)))
    worker.looks.start()
    while (claimed() < 2) await nextTurn()
    await worker.stop()
    expect(settled).to.deep.equal(['done', 'done'])
  })

  it('deletes old failed jobs every ten minutes, at a moment of its own', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    mock.method(Math, 'random', () => 0.5)
    let now = 0
    mock.method(performance, 'now', () => now)
    const end = deferred()
    const { worker, prunes } = workerWith(() => end.promise)
    worker.looks.start()
    for (; now <= 1_500_000; now += 20_000) {
      worker.looks.wake()
      for (let turn = 0; turn < 10; turn++) await nextTurn()
    }
    expect(prunes).to.deep.equal([300_000, 900_000, 1_500_000].map((at) => [1000, at]))
    const stopped = worker.stop()
    end.resolve()
    await stopped
  })

  it('is not well while its schedules have been blocked for half a minute, and logs their late error', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    let now = performance.now()
    mock.method(performance, 'now', () => now)
    const [end, schedules] = [deferred(), deferred()]
    const { worker, lines, claimed } = workerWith(
      () => end.promise,
      () => schedules.promise.then(() => Promise.reject(new Error('The connection was lost.'))),
    )
    worker.looks.start()
    for (const isWell of [true, true, false]) {
      for (let turn = 0; turn < 5; turn++) await nextTurn()
      mock.timers.tick(1100)
      for (let turn = 0; turn < 5; turn++) await nextTurn()
      expect([worker.isWell, claimed()]).to.deep.equal([isWell, 2])
      now += 16_000
    }
    schedules.resolve()
    await nextTurn()
    expect([worker.isWell, lines]).to.deep.equal([true, ['The jobs of schedules were not added']])
    const stopped = worker.stop()
    end.resolve()
    await stopped
  })
})

describe('the error of a job in the table', () => {
  it('has its name and its message, without the character that PostgreSQL refuses', () => {
    expect(errorLine(new TypeError('a\0b'))).to.equal('TypeError: ab')
    expect(errorLine('secret')).to.equal('A string was thrown.')
  })
})

describe('work beside the looks for jobs', () => {
  it('runs once at a time', async () => {
    const end = deferred()
    let runs = 0
    const work = boundedWork(
      () => {
        runs++
        return end.promise
      },
      () => undefined,
    )
    const both = [work.run(), work.run()]
    expect(runs).to.equal(1)
    end.resolve()
    await Promise.all(both)
    await work.run()
    expect(runs).to.equal(2)
  })

  it('is not repeated without a pause while it fails, although somebody wants it', async () => {
    let looks = 0
    const regular = lookRegularly(async () => {
      looks++
      await nextTurn()
      regular.wake()
      throw new Error('away')
    }, outages)
    regular.start()
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    expect(looks).to.equal(1)
    await regular.stop()
  })

  it('is repeated without a pause again once a failure is over', async () => {
    let looks = 0
    const regular = lookRegularly(async () => {
      if (++looks === 1) throw new Error('away')
      await nextTurn()
      if (looks === 2) regular.wake()
    }, outages)
    regular.start()
    for (const expected of [1, 3]) {
      for (let turn = 0; turn < 20; turn++) await nextTurn()
      expect(looks).to.equal(expected)
      regular.wake()
    }
    await regular.stop()
  })

  it('ends with the current look, and is not repeated afterwards', async () => {
    const look = deferred()
    const seen: string[] = []
    const regular = lookRegularly(async () => {
      seen.push('look')
      await look.promise
    }, outages)
    regular.start()
    const stopped = regular.stop().then(() => seen.push('stopped'))
    for (let turn = 0; turn < 5; turn++) await nextTurn()
    expect(seen).to.deep.equal(['look'])
    look.resolve()
    await stopped
    regular.wake()
    await nextTurn()
    expect(seen).to.deep.equal(['look', 'stopped'])
  })

  it('is well before its start and after its stop, and not while it fails for long', async () => {
    const time = mock.method(performance, 'now', () => 1e9)
    try {
      const regular = lookRegularly(() => Promise.reject(new Error('away')), outages)
      const states = [regular.isWell]
      regular.start()
      await nextTurn()
      states.push(regular.isWell)
      time.mock.mockImplementation(() => 1e9 + 30_000)
      states.push(regular.isWell)
      await regular.stop()
      expect([...states, regular.isWell]).to.deep.equal([true, true, false, true])
    } finally {
      time.mock.restore()
    }
  })

  it('adds the moment that is now', () => {
    const schedule = { next: (after: number) => after + 60_000, runsMissed: true }
    const due = dueMoments({ moment: 1000, now: 1000 }, schedule)
    expect(due).to.deep.equal({ moments: [1000], next: 61_000 })
  })

  it('adds every moment of the last minute, and leaves out those before', () => {
    const period = 20_000
    const schedule = { next: (after: number) => (Math.floor(after / period) + 1) * period, runsMissed: true }
    const moments = [60_000, 60_001].map((now) => dueMoments({ moment: 0, now }, schedule).moments)
    expect(moments).to.deep.equal([
      [0, period, 2 * period, 3 * period],
      [period, 2 * period, 3 * period],
    ])
  })

  it('adds no moment that another process has added since it was read', async () => {
    const row = { id: '1', name: 'nightly', data: 'p', run_at: 1000, now: 1500 }
    const added: number[] = []
    const run = async (sql: string, values: readonly unknown[] = []) => {
      if (sql.startsWith('SELECT')) return { records: [{ ...row }] }
      const [next, , id, moment] = values
      const isStill = !sql.includes('run_at = ? AND') || (id === row.id && moment === row.run_at)
      if (isStill) row.run_at = Number(next)
      return { records: [], affected: isStill ? 1 : 0 }
    }
    const schedule = {
      name: 'nightly',
      pattern: 'p',
      next: (after: number) => after + 60_000,
      runsMissed: true,
    }
    const parts = {
      transact: (work: (tx: never) => Promise<never>) => work(undefined as never),
      add: async (_name: string, moment: number) => added.push(moment),
    }
    await Promise.all([0, 1].map(() => addDue(run as never, parts as never, [schedule as never])))
    expect(added).to.deep.equal([1000])
  })
})
