import { mock } from 'node:test'
import { setImmediate as turnOfLoop, setTimeout as wait } from 'node:timers/promises'
import { Queue, Worker } from 'bullmq'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import type { StartupError } from 'mortar'
import type { JobEngine } from '@mortar/jobs'
import { bullmq } from '@mortar/jobs/bullmq'
import * as schema from '@mortar/jobs/schema'
import { startProxy as startFaultyNetwork } from '../../../scripts/soak/cutting-proxy.ts'
import { needRedisServer, startRedis } from '../../support/redis-server.ts'
import { KINDS } from '../database/databases.ts'
import { startProxy } from '../limits/proxy.ts'
import { NAMES, newJob, testPromises, type EnginePair } from './engine-contract.ts'
import { refuseDeletes, testRemoval } from './engine-removal.ts'
import { redisOfTests } from './engines.ts'

const LEASE = 800

describe('the engine of jobs in BullMQ', () => {
  const redis = redisOfTests()
  const place = KINDS['SQLite']!()
  let pair: EnginePair

  beforeEach(async () => {
    const first = await place().open(schema)
    await first.synchronize()
    const [one, other] = [first, await place().open(schema)].map((db) =>
      bullmq({ ...redis().options, lease: LEASE })({ db, names: () => NAMES }),
    ) as [JobEngine, JobEngine]
    await Promise.all([one.open(), other.open()])
    pair = {
      one,
      other,
      lease: LEASE,
      pass: (by) => wait(by),
      now: () => Date.now(),
      transact: (work) => first.transaction((tx) => work(tx as never)),
    }
  })
  afterEach(async () => {
    mock.reset()
    await Promise.all([pair.one, pair.other].map((engine) => engine.close!()))
  })

  testPromises(() => pair)

  it('gives rows back immediately that BullMQ could not accept', async () => {
    const { one, other } = pair
    await one.add(newJob())
    let counts: object = {}
    const away = async (): Promise<never> => {
      counts = await other.counts()
      throw new Error('Redis is away.')
    }
    const add = mock.method(Queue.prototype, 'addBulk', away)
    const refused = await one.claim(NAMES, 1).catch(String)
    add.mock.restore()
    expect(refused).to.equal('Error: Redis is away.')
    expect(counts).to.include({ waiting: 1, running: 0, failed: 0 })
    expect(await other.claim(NAMES, 1)).to.have.lengthOf(1)
  })

  it('asks an empty queue again after a pause, or when it has added or retried a job', async () => {
    mock.method(performance, 'now', () => 5000)
    const next = mock.method(Worker.prototype, 'getNextJob')
    const { one } = pair
    for (let time = 0; time < 2; time++) expect(await one.claim(NAMES, 1)).to.deep.equal([])
    expect(next.mock.callCount()).to.equal(NAMES.length)
    const job = newJob()
    await one.add(job)
    const [claimed] = await one.claim(NAMES, 1)
    expect(claimed).to.include({ id: job.id })
    await one.settle(claimed!, { is: 'failed', error: 'x' })
    expect(await one.claim(NAMES, 1)).to.deep.equal([])
    await one.retry(job.id)
    expect((await one.claim(NAMES, 1))[0]).to.include({ id: job.id })
  })

  it('runs a job again whose row could not be deleted when it was done', async () => {
    const { other, pass } = pair
    const db = await place().open(schema)
    const engine = bullmq({ ...redis().options, lease: LEASE })({ db, names: () => NAMES })
    await engine.add(newJob({ key: 'k' }))
    const [claimed] = await engine.claim(NAMES, 1)
    const away = refuseDeletes(db)
    expect(await engine.settle(claimed!, { is: 'done' }).catch(String)).to.equal('Error: away')
    away.mock.restore()
    let again
    while ((again = (await other.claim(NAMES, 1))[0]) === undefined) await pass(100)
    expect(await other.settle(again, { is: 'done' })).to.equal(true)
    expect(await other.add(newJob({ key: 'k' }))).to.equal(true)
    await engine.close!()
  })

  it('removes a job with its key, or neither', async () => {
    const db = await place().open(schema)
    await testRemoval(db, bullmq(redis().options)({ db, names: () => NAMES }))
  })

  it('removes a job whose process died while it handed the job over', async () => {
    const { one, other } = pair
    const job = newJob({ key: 'k' })
    await one.add(job)
    await one.claim(['report'], 1)
    const db = await place().open(schema)
    await db.getRepository(schema.MortarJobs).update({ id: job.id }, { state: 'waiting', run_at: 0 })
    expect(await one.remove(job.id)).to.equal(true)
    expect(await other.claim(NAMES, 1)).to.deep.equal([])
    expect(await one.list()).to.deep.equal([])
  })

  it('hands a job over again that Redis has lost, and no other', async () => {
    const { one, other } = pair
    const jobs = [newJob({ key: 'k' }), newJob()]
    for (const job of jobs) await one.add(job)
    expect(await one.claim(NAMES, 1)).to.have.lengthOf(1)
    await redis().clear()
    const db = await place().open(schema)
    const markBefore = (milliseconds: number) =>
      db.getRepository(schema.MortarJobs).update({ state: 'carried' }, { run_at: Date.now() - milliseconds })
    // Redis may still get a row that was marked within the last five minutes.
    await markBefore(270_000)
    await one.prune(60_000)
    expect((await one.counts()).waiting).to.equal(0)
    await markBefore(330_000)
    await one.prune(60_000)
    expect(await other.add(newJob({ key: 'k' }))).to.equal(false)
    const ids = (await other.claim(NAMES, 5)).map(({ id }) => id)
    expect(ids.toSorted()).to.deep.equal(jobs.map(({ id }) => id).toSorted())
    await db.getRepository(schema.MortarJobs).update({ state: 'carried' }, { run_at: 0 })
    await one.prune(60_000)
    expect((await one.counts()).waiting).to.equal(0)
  })

  it('hands a job over again whose data Redis has lost, while its queue still has its id', async () => {
    const { one, other } = pair
    const job = newJob()
    await one.add(job)
    await one.claim(['report'], 1)
    const { connection, prefix } = redis().options
    const client = new Redis(connection.url)
    expect(await client.del(`${prefix}:send:${job.id}`)).to.equal(1)
    await client.quit()
    expect(await one.claim(NAMES, 1)).to.deep.equal([])
    expect(await one.list()).to.have.lengthOf(1)
    let claimed = await other.claim(NAMES, 1)
    for (; claimed.length === 0; claimed = await other.claim(NAMES, 1)) await wait(50)
    expect(claimed[0]).to.include({ id: job.id, data: job.data, attempt: 1 })
  })

  it('hands a lost job over again although more than a thousand older ones wait', async () => {
    const { one } = pair
    const rows = (await place().open(schema)).getRepository(schema.MortarJobs)
    const job = newJob()
    await one.add(job)
    await one.claim(['report'], 1)
    const row = await rows.findOneByOrFail({ id: job.id })
    const others = Array.from({ length: 1000 }, (_, index) => ({ ...row, id: `other ${index}`, run_at: 1 }))
    for (let from = 0; from < others.length; from += 100) await rows.insert(others.slice(from, from + 100))
    const lost = mock.method(Queue.prototype, 'getJob', async (id: string) =>
      id === job.id ? undefined : {},
    )
    await rows.update({ id: job.id }, { run_at: 2 })
    for (let count = 0; count < 2; count++) await one.prune(60_000)
    lost.mock.restore()
    expect(await rows.findBy({ state: 'waiting' })).to.have.lengthOf(1)
  })
})

describe('the engine of jobs in BullMQ, whose Redis becomes a replica', () => {
  needRedisServer()
  const place = KINDS['SQLite']!()

  it('hands jobs to the server to which the address leads then', async () => {
    const [former, next] = [await startRedis(), await startRedis()]
    const proxy = await startProxy('127.0.0.1', former.port)
    const db = await place().open(schema)
    await db.synchronize()
    const connection = { url: `redis://127.0.0.1:${proxy.port}` }
    const engine = bullmq({ connection })({ db, names: () => NAMES })
    await engine.open()
    const admin = new Redis(former.url)
    await admin.replicaof('127.0.0.1', next.port)
    proxy.lead(next.port)
    const job = newJob()
    await engine.add(job)
    expect(await engine.claim(NAMES, 1).catch(String)).to.include('READONLY')
    let claimed = await engine.claim(NAMES, 1)
    for (; claimed.length === 0; claimed = await engine.claim(NAMES, 1)) await wait(50)
    expect(claimed[0]!.id).to.equal(job.id)
    await engine.close!()
    admin.disconnect()
    proxy.close()
    for (const server of [former, next]) await server.stop()
  })

  it('claims nothing with a command that was sent while Redis was away', async () => {
    const redis = await startRedis()
    const network = await startProxy('127.0.0.1', redis.port)
    const db = await place().open(schema)
    await db.synchronize()
    // ioredis leaves the timer of `socketTimeout` behind.
    const patience = { commandTimeout: 2000, socketTimeout: undefined, retryStrategy: () => 50 }
    const engineAt = (port: number): JobEngine =>
      bullmq({ connection: { ...patience, url: `redis://127.0.0.1:${port}` } })({ db, names: () => NAMES })
    const [engine, other] = [engineAt(network.port), engineAt(redis.port)]
    await Promise.all([engine.open(), other.open()])
    network.cut()
    // From here on its client knows.
    expect(await engine.counts().catch(String)).to.be.a('string')
    const refused = engine.claim(NAMES, 1).catch(String)
    const job = newJob()
    await other.add(job)
    const [claimed] = await other.claim(NAMES, 1)
    await other.settle(claimed!, { is: 'returned' })
    expect(await refused).to.be.a('string')
    network.heal()
    // The connection is back.
    await engine.counts().catch(() => engine.counts())
    expect(await engine.counts()).to.include({ waiting: 1, running: 0 })
    expect((await engine.claim(NAMES, 1))[0]).to.include({ id: job.id, attempt: 1 })
    for (const each of [engine, other]) await each.close!()
    network.close()
    await redis.stop()
  })

  it('opens another connection if its own is silent for ever', async () => {
    const redis = await startRedis()
    const network = await startFaultyNetwork(redis.port)
    const db = await place().open(schema)
    await db.synchronize()
    const connection = { url: `redis://127.0.0.1:${network.port}` }
    const engine = bullmq({ connection })({ db, names: () => NAMES })
    await engine.open()
    await engine.counts()
    await network.silence(0)
    mock.timers.enable({ apis: ['setTimeout'] })
    const counted = engine.counts()
    // The time until the connection is closed, and from then until the next one.
    for (const passed of [5000, 1000]) {
      for (let turn = 0; turn < 50; turn++) await turnOfLoop()
      mock.timers.tick(passed)
    }
    expect(await counted).to.include({ waiting: 0, running: 0 })
    mock.timers.reset()
    await engine.close!()
    await network.stop()
    await redis.stop()
  })

  it('fails at the start if its server is not there, after ten seconds', async () => {
    const redis = await startRedis()
    const connection = { url: `redis://127.0.0.1:${redis.port}` }
    await redis.stop()
    const db = await place().open(schema)
    await db.synchronize()
    const engine = bullmq({ connection })({ db, names: () => NAMES })
    const failure = engine.open().catch((error: StartupError) => [error.code, String(error.cause)])
    expect(await failure).to.deep.equal(['MORTAR_JOBS_ENGINE', 'Error: It took longer than 10 s.'])
    await engine.close!()
  })
})
