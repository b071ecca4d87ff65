import { once } from 'node:events'
import { mock } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { In } from 'typeorm'
import { createClient } from 'mortar/testing'
import type { Jobs, JobsOptions } from '@mortar/jobs'
import * as schema from '@mortar/jobs/schema'
import { runtimeOf } from '../../../plugins/jobs/runtime.ts'
import { ENGINES } from './engines.ts'
import { jobsApp, keptLog, type JobsApp } from './applications.ts'
import heldJob, { Hold, holds } from './jobs/held.ts'
import recordJob, { record } from './jobs/record.ts'
import slowJob from './jobs/slow.ts'

/** Waits until a condition is true. */
async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await wait(10)
}

for (const [kind, prepare] of Object.entries(ENGINES))
  describe(`the worker of jobs: ${kind}`, () => {
    const place = prepare()
    const apps: JobsApp[] = []
    let log: ReturnType<typeof keptLog>

    beforeEach(async () => {
      log = keptLog()
      record.length = 0
      await (await place().open(schema)).synchronize()
    })
    afterEach(async () => {
      for (const { end } of holds.values()) end.resolve()
      await Promise.all(apps.splice(0).map((app) => app.close()))
    })

    async function start(options: Partial<JobsOptions> = {}): Promise<Jobs> {
      const app = jobsApp(
        place().options(schema),
        { ...place().settings, ...options },
        {
          environment: 'development',
          logger: log.logger,
          logRequests: false,
        },
      )
      apps.push(app)
      await app.ready()
      return app.services.jobs
    }
    function hold(name: string): Hold {
      const made = new Hold()
      holds.set(name, made)
      return made
    }

    it('runs a job when it is added, and a job of another process within its next look', async () => {
      const web = await start({ run: false })
      const jobs = await start()
      const wake = mock.method(runtimeOf(jobs).worker.looks, 'wake')
      await jobs.add(recordJob, { text: 'own', failures: 0 })
      expect(wake.mock.callCount()).to.be.above(0)
      await until(() => record.length === 1)
      await web.add(recordJob, { text: 'of the other', failures: 0 })
      await until(() => record.length === 2)
      expect(record.map(({ text }) => text)).to.deep.equal(['own', 'of the other'])
    })

    it('adds jobs only with run: false', async () => {
      const jobs = await start({ run: false })
      await jobs.add(recordJob, { text: 'waits', failures: 0 })
      expect(await jobs.counts()).to.include({ waiting: 1, running: 0 })
      expect(record).to.deep.equal([])
    })

    it('runs others beside a job that fails, one that never ends, and one at its own limit', async () => {
      const jobs = await start({ concurrency: 3 })
      const held = hold('limit')
      for (let count = 0; count < 4; count++) await jobs.add(heldJob, { hold: 'limit' })
      await held.begun.promise
      await jobs.add(slowJob)
      await jobs.add(recordJob, { text: 'secret', failures: 9 })
      await jobs.add(recordJob, { text: 'runs', failures: 0 })
      await until(() => record.length === 1)
      await until(async () => (await jobs.list({ state: 'failed', name: 'slow' })).length === 1)
      expect(held.most).to.equal(2)
      held.end.resolve()
      await until(async () => (await jobs.list({ name: 'held' })).length === 0)
      expect(held.most).to.equal(2)
      expect(JSON.stringify(log.lines)).to.contain('Attempt 1 fails').and.not.contain('secret')
    })

    it('waits for a running job when it stops, and claims no other', async () => {
      const jobs = await start({ concurrency: 1 })
      const held = hold('stop')
      await jobs.add(heldJob, { hold: 'stop' })
      const signal = await held.begun.promise
      await jobs.add(recordJob, { text: 'not claimed', failures: 0 })
      const closing = apps[0]!.close()
      held.end.resolve()
      await closing
      expect(signal.aborted).to.equal(false)
      const [left, ...others] = await (await start({ run: false })).list()
      expect(left).to.include({ name: 'record', state: 'waiting', attempt: 0 })
      expect(others).to.deep.equal([])
    })

    it('claims nothing while its application serves on before its stop', async () => {
      const jobs = await start()
      const closing = apps[0]!.close({ drainDelay: '1m' })
      await jobs.add(recordJob, { text: 'waits', failures: 0 })
      for (let look = 0; look < 5; look++)
        expect(await jobs.counts()).to.include({ waiting: 1, running: 0, failed: 0 })
      await Promise.all([apps[0]!.close(), closing])
      expect(record).to.deep.equal([])
    })

    it('aborts the signal of a job after its patience, and gives the job back with all its attempts', async () => {
      const jobs = await start({ patience: '50ms' })
      const held = hold('abort')
      await jobs.add(heldJob, { hold: 'abort' })
      const signal = await held.begun.promise
      const aborted = once(signal, 'abort')
      const closing = apps[0]!.close()
      await Promise.all([aborted, closing])
      const next = hold('abort')
      await start()
      await next.begun.promise
      next.end.resolve()
      await until(async () => (await apps[1]!.services.jobs.list()).length === 0)
      expect(log.lines.map(({ text }) => text)).to.include('The process stops; another one runs the job')
    })

    it('shows its numbers as gauges, and its health as a check', async () => {
      const jobs = await start({ run: false })
      await jobs.add(recordJob, { text: 'waits', failures: 0 })
      const { gauges } = apps[0]!.services
      const read = (): unknown => gauges.all.get('jobs_waiting')!.read()
      await until(() => read() !== undefined)
      expect(read()).to.equal(1)
      const { status } = await createClient(apps[0]!).get('/readyz')
      expect(status).to.equal(200)
    })
  })

for (const kind of ['PostgreSQL', 'MariaDB', 'pg-boss'])
  describe(`the worker of jobs beside the transaction of a lost host: ${kind}`, () => {
    const place = ENGINES[kind]!()
    // In MariaDB, a close waits for the statement that waits for the lock.
    const development = { environment: 'development', shutdownTimeout: '1s' } as const

    it('runs jobs while the row of a schedule is locked, and adds its moment afterwards', async () => {
      record.length = 0
      const db = await place().open(schema)
      await db.synchronize()
      const rows = db.getRepository(schema.MortarJobs)
      const app = (): JobsApp => jobsApp(place().options(schema), place().settings, development)
      const planner = await app().ready()
      await until(async () => (await rows.countBy({ state: 'schedule' })) === 1)
      await planner.close()
      const { id } = await rows.findOneByOrFail({ state: 'schedule' })
      await rows.update({ id }, { run_at: Date.now() - 1000 })
      await db.transaction(async (lost) => {
        await lost.find(schema.MortarJobs, {
          where: { id },
          lock: { mode: 'pessimistic_write' },
        })
        const worker = await app().ready()
        await worker.services.jobs.add(recordJob, { text: 'runs', failures: 0 }, { tx: false })
        await until(() => record.length === 1)
        await worker.close()
      })
      const worker = await app().ready()
      await until(async () => (await rows.findOneByOrFail({ state: 'schedule' })).run_at > Date.now())
      await worker.close()
    })

    if (kind === 'pg-boss') return
    it('runs jobs while a failed job that is to be deleted, and in PostgreSQL one that is due, are locked', async () => {
      record.length = 0
      const db = await place().open(schema)
      await db.synchronize()
      const old = {
        name: 'record',
        data: 'null',
        state: 'failed',
        run_at: 1,
        attempt: 1,
        added_at: 1,
      } as const
      await db.getRepository(schema.MortarJobs).insert({ id: 'old', ...old })
      const ids = kind === 'PostgreSQL' ? ['old', 'due'] : ['old']
      if (ids.length > 1)
        await db.getRepository(schema.MortarJobs).insert({ ...old, id: 'due', state: 'waiting' })
      const { random } = Math
      await db.transaction(async (lost) => {
        await lost.find(schema.MortarJobs, {
          where: { id: In(ids) },
          lock: { mode: 'pessimistic_write' },
        })
        // Old jobs are deleted at the first look.
        Math.random = () => 0
        const worker = await jobsApp(place().options(schema), {}, development).ready()
        Math.random = random
        await worker.services.jobs.add(recordJob, { text: 'runs', failures: 0 }, { tx: false })
        await until(() => record.length === 1)
        await worker.services.jobs.add(recordJob, { text: 'again', failures: 0 }, { tx: false })
        await until(() => record.length === 2)
        await worker.close()
      })
    })
  })
