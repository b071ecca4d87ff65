import { expect } from 'chai'
import type { BrickCommandResult, Cradle } from 'mortar'
import { jobs } from '@mortar/jobs'
import * as schema from '@mortar/jobs/schema'
import { testJobs } from '@mortar/jobs/testing'
import { runtimeOf } from '../../../plugins/jobs/runtime.ts'
import { DIRECTORY, jobsApp, winterClock, type JobsApp } from './applications.ts'
import recordJob from './jobs/record.ts'

const { commands = {}, entries } = jobs({ directory: DIRECTORY })

describe('the commands of jobs', () => {
  let app: JobsApp
  beforeEach(async () => {
    const connection = {
      type: 'better-sqlite3',
      database: ':memory:',
      entities: schema,
      synchronize: true,
    } as const
    app = await jobsApp(connection, {}, { clock: winterClock() }).ready()
  })
  afterEach(() => app.close())

  const run = (step: string, positionals: string[], values: Record<string, string | boolean> = {}) =>
    commands[step]!.run({ positionals, values }, app.services)
  const failureOf = async (result: Promise<BrickCommandResult>): Promise<Error> => {
    const found = await result.then(
      () => undefined,
      (error: unknown) => error as Error,
    )
    expect(found).to.be.instanceOf(Error)
    return found!
  }
  async function fail(count: number): Promise<readonly string[]> {
    for (let index = 0; index < count; index++)
      await app.services.jobs.add(recordJob, { text: `secret ${index}`, failures: 9 })
    for (let attempt = 0; attempt < 3; attempt++) {
      await testJobs(app).run({ failing: [recordJob] })
      winter().advance('1h')
    }
    return (await app.services.jobs.list({ state: 'failed' })).map(({ id }) => id)
  }
  const winter = () => app.services.clock as ReturnType<typeof winterClock>

  it('count and list jobs without their data', async () => {
    const [id] = await fail(1)
    await app.services.jobs.add(recordJob, { text: 'secret', failures: 0 })
    const { json, text } = await run('list', [])
    expect(json).to.have.property('counts').include({ waiting: 1, running: 0, failed: 1 })
    expect((json as { jobs: unknown[] }).jobs).to.have.lengthOf(2)
    expect(text)
      .to.include(`${id}  failed   record  attempt 3`)
      .and.match(/\n1 waiting, 0 running, 1 failed$/)
    expect(text).to.not.include('secret')
    expect((await run('list', [], { state: 'failed', name: 'other' })).text).to.equal(
      '1 waiting, 0 running, 1 failed',
    )
  })

  it('list names and errors without control characters, which a terminal would obey', async () => {
    const { engine } = runtimeOf(app.services.jobs)
    await app.services.jobs.add(recordJob, { text: 'x', failures: 0 })
    const [claimed] = await engine.claim(['record'], 1)
    await engine.settle(claimed!, { is: 'failed', error: 'Error: \u001B[2Jgone' })
    const job = { id: '1', key: undefined, data: '{}', requestId: undefined, trace: undefined }
    await engine.add({ ...job, name: 'old\u001B', due: { after: 0 } })
    const { text } = await run('list', [])
    expect(text).to.include('Error: \uFFFD[2Jgone').and.include('old\uFFFD').and.not.include('\u001B')
  })

  it('retry and remove jobs by id, the others too if one is unknown', async () => {
    const [first, second, third] = await fail(3)
    const error = await failureOf(run('retry', [first!, 'unknown\u001B', first!]))
    expect(error).to.include({ code: 'MORTAR_JOBS_ID' })
    expect(error.message).to.include('Not retried: unknown\uFFFD. Other jobs retried: 1.')
    expect(await app.services.jobs.counts()).to.include({ waiting: 1, failed: 2 })
    expect((await run('remove', [first!, second!])).json).to.deep.equal({ removed: [first, second] })
    expect((await app.services.jobs.list()).map(({ id }) => id)).to.deep.equal([third])
  })

  it('retry and remove all failed jobs, and all waiting ones of a name', async () => {
    await fail(3)
    await app.services.jobs.add(recordJob, { text: 'waits', failures: 0 })
    expect((await run('retry', [], { all: true, name: 'other' })).text).to.equal('0 jobs retried.')
    expect((await run('retry', [], { all: true })).text).to.equal('3 jobs retried.')
    expect((await run('remove', [], { all: true })).text).to.equal('0 jobs removed.')
    expect((await run('remove', [], { all: true, state: 'waiting', name: 'record' })).text).to.equal(
      '4 jobs removed.',
    )
  })

  it('retry each job once with --all, although it fails again meanwhile', async () => {
    await fail(2)
    const tried: string[] = []
    const retry = async (id: string): Promise<boolean> => {
      expect(tried).to.not.include(id)
      return tried.push(id) > 0
    }
    Object.assign(runtimeOf(app.services.jobs).engine, { retry })
    expect((await run('retry', [], { all: true })).text).to.equal('2 jobs retried.')
  })

  it('refuse wrong arguments', async () => {
    const wrong: Parameters<typeof run>[] = [
      ['list', ['x']],
      ['list', [], { state: 'done' }],
      ['list', [], { limit: '0' }],
      ['retry', []],
      ['retry', ['id'], { all: true }],
      ['remove', ['id'], { name: 'record' }],
      ['remove', [], { all: true, state: 'running' }],
    ]
    for (const given of wrong)
      expect(await failureOf(run(...given)), given.join()).to.be.instanceOf(RangeError)
  })

  it('report a table that is missing', async () => {
    const empty = await jobsApp({ type: 'better-sqlite3', database: ':memory:' }).ready()
    const services = empty.services as unknown as Cradle
    const error = await failureOf(commands['list']!.run({ positionals: [], values: {} }, services))
    await empty.close()
    expect(error).to.include({ code: 'MORTAR_JOBS_TABLE' })
  })
})

describe('the entries of jobs', () => {
  it('are the jobs with their files and settings', async () => {
    const found = await entries!({} as Cradle)
    expect(found.find(({ name }) => name === 'reports/nightly')).to.deep.equal({
      kind: 'job',
      name: 'reports/nightly',
      file: new URL('jobs/reports/nightly.ts', import.meta.url).pathname,
      settings: { attempts: 10, timeout: '900s', every: '30 2 * * * Europe/Berlin' },
    })
  })
})
