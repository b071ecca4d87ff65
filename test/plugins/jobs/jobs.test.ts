import { mock } from 'node:test'
import { expect } from 'chai'
import { routerFor } from 'mortar'
import { createClient } from 'mortar/testing'
import type { DataSource } from 'typeorm'
import { job } from '@mortar/jobs'
import { testJobs } from '@mortar/jobs/testing'
import * as schema from '@mortar/jobs/schema'
import { runtimeOf } from '../../../plugins/jobs/runtime.ts'
import { deferred } from '../../support/deferred.ts'
import { KINDS } from '../database/databases.ts'
import { jobsApp, keptLog, winterClock, type JobsApp } from './applications.ts'
import nightly, { nights } from './jobs/reports/nightly.ts'
import recordJob, { record } from './jobs/record.ts'

/** A waiting job whose file was deleted. */
const GONE = {
  id: '1',
  name: 'gone',
  data: '{}',
  state: 'waiting',
  run_at: 0,
  attempt: 0,
  added_at: 0,
} as const

const failure = async (work: Promise<unknown>): Promise<Error> => {
  try {
    await work
  } catch (error) {
    return error as Error
  }
  throw new Error('It did not fail.')
}

for (const [kind, prepare] of Object.entries(KINDS))
  describe(`jobs of an application: ${kind}`, () => {
    const place = prepare()
    const clock = winterClock()
    let app: JobsApp
    let log: ReturnType<typeof keptLog>

    beforeEach(async () => {
      const setUp = await place().open(schema)
      await setUp.synchronize()
      log = keptLog()
      app = jobsApp(place().options(schema), {}, { clock, logger: log.logger })
      record.length = 0
      await app.ready()
    })
    afterEach(() => app.close())

    const db = (): DataSource => app.services.db
    const service = () => app.services.jobs

    it('reads its directory at the start alone', async () => {
      const load = mock.method(runtimeOf(service()).registry, 'load')
      await service().add(recordJob, { text: 'hello', failures: 0 })
      expect(load.mock.callCount()).to.equal(0)
      mock.reset()
    })

    it('runs a job that a request has added, with the id of the request in the log', async () => {
      app.use(
        routerFor<JobsApp>().post('/texts', {}, (ctx) =>
          ctx.jobs.add(recordJob, { text: 'hello', failures: 0 }),
        ),
      )
      const { status } = await createClient(app).post(
        '/texts',
        {},
        { headers: { 'x-request-id': 'request-7' } },
      )
      expect(status).to.equal(200)
      expect(await testJobs(app).added(recordJob)).to.deep.equal([{ text: 'hello', failures: 0 }])
      expect(await testJobs(app).run()).to.equal(1)
      expect(record).to.deep.equal([{ text: 'hello', attempt: 1 }])
      const line = log.lines.find(({ text }) => text === 'Job done')
      expect(line?.fields).to.include({ job: 'record', requestId: 'request-7', attempt: 1 })
    })

    it('refuses data that does not fit the schema, without a value in the message', async () => {
      const error = await failure(service().add(recordJob, { text: 5, failures: 'secret' } as never))
      expect(error.name).to.equal('InvalidJobData')
      expect(error.message).to.contain('failures').and.not.contain('secret')
      expect(await service().list()).to.deep.equal([])
    })

    it('refuses a job that is not in the directory', async () => {
      expect((await failure(service().add(job({}, () => undefined)))).message).to.contain(
        'not in the directory',
      )
    })

    it('commits a job with the transaction, given or around the call, and rolls it back with it', async () => {
      const rollback = new Error('rollback')
      // On SQLite, a job without the transaction would wait for it.
      const alone = kind === 'SQLite' ? [] : ['alone']
      const add = (text: string, tx?: unknown) => service().add(recordJob, { text, failures: 0 }, { tx })
      await failure(
        db().transaction(async (tx) => {
          await add('given', tx)
          await add('around')
          await Promise.all([tx.query('select 1'), add('together')])
          for (const text of alone) await add(text, false)
          throw rollback
        }),
      )
      expect(await service().list()).to.have.lengthOf(alone.length)
      await db().transaction(async (tx) => {
        await add('given', tx)
        await add('around')
        await tx.transaction(async () => add('inside'))
      })
      await testJobs(app).run()
      const texts = record.map(({ text }) => text).toSorted()
      expect(texts).to.deep.equal([...alone, 'around', 'given', 'inside'])
    })

    it('adds work that a transaction has left behind by itself, and refuses an ended transaction', async () => {
      let later: Promise<unknown> = Promise.resolve()
      let ended: unknown
      const { promise, resolve } = deferred()
      await db().transaction(async (tx) => {
        ended = tx
        later = promise.then(() => service().add(recordJob, { text: 'later', failures: 0 }))
      })
      resolve()
      await later
      expect(await service().list()).to.have.lengthOf(1)
      const error = await failure(service().add(recordJob, { text: 'x', failures: 0 }, { tx: ended }))
      expect(error.message).to.contain('not an open transaction')
    })

    it('repeats a failed job after twice the time, then keeps it as failed', async () => {
      const jobs = testJobs(app)
      await service().add(recordJob, { text: 'no', failures: 9 })
      expect((await failure(jobs.run())).message).to.equal('Attempt 1 fails')
      clock.advance('9s')
      expect(await jobs.run()).to.equal(0)
      clock.advance('1s')
      expect(await jobs.run({ failing: [recordJob] })).to.equal(1)
      clock.advance('19s')
      expect(await jobs.run()).to.equal(0)
      clock.advance('1s')
      expect(await jobs.run({ failing: [recordJob] })).to.equal(1)
      const [failed] = await service().list({ state: 'failed' })
      expect(failed).to.include({ name: 'record', attempt: 3, error: 'Error: Attempt 3 fails' })
      clock.advance('2h')
      expect(await jobs.run()).to.equal(0)
      expect(await service().retry(failed!.id)).to.equal(true)
      expect(await jobs.run({ failing: [recordJob] })).to.equal(1)
      const levels = log.lines.filter(({ fields }) => fields['job'] === 'record').map(({ level }) => level)
      expect(levels).to.deep.equal(['warn', 'warn', 'error', 'warn'])
      expect(JSON.stringify(log.lines)).to.not.contain('"no"')
    })

    it('waits for the moment of a job, and adds one for a key', async () => {
      await service().add(recordJob, { text: 'later', failures: 0 }, { after: '1h' })
      await service().add(recordJob, { text: 'at', failures: 0 }, { at: new Date(clock.now() + 60_000) })
      expect(await service().add(recordJob, { text: 'once', failures: 0 })).to.have.property('id')
      expect(await service().add(recordJob, { text: 'once', failures: 0 })).to.equal(undefined)
      expect(await testJobs(app).run()).to.equal(1)
      clock.advance('1m')
      expect(await testJobs(app).run()).to.equal(1)
      clock.advance('1h')
      expect(await testJobs(app).run()).to.equal(1)
      expect(record.map(({ text }) => text)).to.deep.equal(['once', 'at', 'later'])
      expect(await service().add(recordJob, { text: 'once', failures: 0 })).to.have.property('id')
    })

    it('refuses a key that a database cannot store', async () => {
      for (const key of ['', 'x'.repeat(201), 'a\0b']) {
        const error = await failure(service().add(recordJob, { text: 'a', failures: 0 }, { key }))
        expect(error).to.be.instanceOf(RangeError)
      }
      expect(await service().list()).to.deep.equal([])
    })

    it('runs a schedule in its zone, once in the night with two hours from 2 to 3 and once in that with none', async () => {
      const jobs = testJobs(app)
      const nightsFrom = async (start: string, days: number): Promise<string[]> => {
        nights.length = 0
        clock.set(Date.parse(start))
        await jobs.run({ failing: [nightly] })
        nights.length = 0
        for (let quarter = 0; quarter < 96 * days; quarter++) {
          clock.advance('15m')
          await jobs.run()
        }
        return [...nights]
      }
      expect(await nightsFrom('2026-03-27T12:00:00Z', 3)).to.deep.equal([
        '2026-03-28T01:30:00.000Z',
        '2026-03-29T01:00:00.000Z',
        '2026-03-30T00:30:00.000Z',
      ])
      expect(await nightsFrom('2026-10-24T12:00:00Z', 2)).to.deep.equal([
        '2026-10-25T00:30:00.000Z',
        '2026-10-26T01:30:00.000Z',
      ])
    })

    it('tries a job again whose data this version of the application does not accept', async () => {
      const row = { ...GONE, name: 'record', data: '{"title":"of another version"}' }
      await db().getRepository(schema.MortarJobs).insert(row)
      expect(await testJobs(app).run({ failing: [recordJob] })).to.equal(1)
      const [tried] = await service().list()
      expect(tried).to.include({ state: 'waiting', attempt: 1 })
      expect(tried!.error).to.contain('InvalidJobData').and.not.contain('another')
    })

    it('names waiting jobs without a file, and leaves them alone', async () => {
      await db().getRepository(schema.MortarJobs).insert(GONE)
      const second = keptLog()
      const other = jobsApp(place().options(schema), {}, { clock, logger: second.logger })
      await other.ready()
      expect(second.lines.find(({ fields }) => fields['jobs'] !== undefined)?.fields['jobs']).to.deep.equal([
        'gone',
      ])
      expect(await testJobs(other).run()).to.equal(0)
      await other.close()
    })
  })

describe('jobs without their table', () => {
  it('stop the start in production, and are a warning and then an error of add elsewhere', async () => {
    const connection = { type: 'better-sqlite3', database: ':memory:' } as const
    const production = jobsApp(connection, {}, { environment: 'production' })
    expect(await failure(production.ready())).to.include({ code: 'MORTAR_JOBS_TABLE' })
    const { logger, lines } = keptLog()
    const app = jobsApp(connection, {}, { logger })
    await app.ready()
    expect(lines.find(({ fields }) => fields['code'] === 'MORTAR_JOBS_TABLE')?.level).to.equal('warn')
    const error = await failure(app.services.jobs.add(recordJob, { text: 'a', failures: 0 }))
    expect(error.message).to.contain('no such table: mortar_jobs')
    await app.close()
  })
})
