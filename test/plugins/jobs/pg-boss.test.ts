import { mock } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import type { DataSource, QueryRunner } from 'typeorm'
import type { JobEngine } from '@mortar/jobs'
import { pgBoss } from '@mortar/jobs/pg-boss'
import * as schema from '@mortar/jobs/schema'
import { runStatement } from '../../support/run-statement.ts'
import { KINDS } from '../database/databases.ts'
import { claimOne, NAMES, newJob, testPromises, type EnginePair } from './engine-contract.ts'
import { testRemoval } from './engine-removal.ts'
import { pgBossOfTests } from './engines.ts'

describe('the engine of jobs in pg-boss', () => {
  const place = KINDS['PostgreSQL']!()
  const own = pgBossOfTests(() => place())
  let pair: EnginePair

  /** The engine of a process. pg-boss counts whole seconds, so each lease is 2 or 3 s. */
  const engineOf = (db: DataSource, name = own()): JobEngine =>
    pgBoss({ schema: name, lease: 1500 })({ db, names: () => NAMES })

  beforeEach(async () => {
    const first = await place().open(schema)
    await first.synchronize()
    const [one, other] = [engineOf(first), engineOf(await place().open(schema))]
    // Together, they would often meet in a deadlock, which the server ends after a second.
    for (const engine of [one, other]) await engine.open()
    pair = {
      one,
      other,
      lease: 2000,
      pass: (by) => wait(by),
      now: () => Date.now(),
      transact: (work) => first.transaction((tx) => work(tx as never)),
    }
  })
  afterEach(() => Promise.all([pair.one, pair.other].map((engine) => engine.close!())))

  testPromises(() => pair)

  it('opens in two processes that make its tables together', async () => {
    const sources = [await place().open(schema), await place().open(schema)]
    // With connections that were used before, the second time, they meet in the first statement already.
    const schemas = [0, 1].map((time) => `${own()}_${time}`)
    const pairs = schemas.map((name) => sources.map((db) => engineOf(db, name)))
    for (const [first, second] of pairs) {
      await Promise.all([first!.open(), second!.open()])
      const job = newJob()
      expect(await first!.add(job)).to.equal(true)
      expect(await claimOne(second!)).to.include({ id: job.id })
    }
    await Promise.all(pairs.flat().map((engine) => engine.close!()))
    await runStatement(place().options(), `drop schema ${schemas.join(', ')} cascade`)
  })

  it('adds jobs to a queue that could not be made before, and rejects claims that fail', async () => {
    const db = await place().open(schema)
    const engine = engineOf(db)
    await engine.open()
    const away = mock.method(db, 'createQueryRunner', () => {
      throw new Error('away')
    })
    const add = () => engine.add(newJob({ name: 'late' }))
    expect(await add().catch(String)).to.equal('Error: away')
    away.mock.restore()
    expect(await add()).to.equal(true)
    const create = db.createQueryRunner.bind(db)
    mock.method(db, 'createQueryRunner', () => {
      const runner = create()
      const query = runner.query.bind(runner) as (...args: readonly unknown[]) => Promise<unknown>
      return Object.assign(runner, {
        query: (text: string, ...rest: readonly unknown[]) =>
          /skip locked/i.test(text) ? Promise.reject(new Error('lost')) : query(text, ...rest),
      })
    })
    expect(await engine.claim(NAMES, 1).catch(String)).to.equal('Error: lost')
    await engine.close!()
  })

  it('keeps an old job for its time after it has failed', async () => {
    const { one } = pair
    await one.add(newJob())
    await runStatement(place().options(), `update ${own()}.job set created_on = now() - interval '1 day'`)
    await one.settle((await claimOne(one))!, { is: 'failed', error: 'x' })
    await one.prune(60_000)
    expect(await one.list()).to.have.lengthOf(1)
  })

  it('does not name a job that has failed among those that wait for their file', async () => {
    const { one } = pair
    await one.add(newJob({ name: 'gone' }))
    const [claimed] = await one.claim(['gone'], 1)
    await one.settle(claimed!, { is: 'failed', error: 'x' })
    expect(await one.unknown(NAMES)).to.deep.equal([])
  })

  it('removes a job with its key, or neither', async () => {
    const db = await place().open(schema)
    await testRemoval(db, engineOf(db))
  })

  it('looks for jobs of dead processes again after a third of a lease', async () => {
    const { one, other } = pair
    await one.add(newJob())
    const { id } = (await claimOne(one))!
    expect(await claimOne(other)).to.equal(undefined)
    await runStatement(place().options(), `update ${own()}.job set started_on = now() - interval '1 minute'`)
    const now = performance.now.bind(performance)
    const time = mock.method(performance, 'now', () => now() + 1000)
    const again = await claimOne(other)
    time.mock.restore()
    expect(again).to.include({ id, attempt: 2 })
  })

  it('claims jobs while the row of a job whose lease has ended is locked', async () => {
    const { one, other, pass, transact } = pair
    await one.add(newJob())
    const { id } = (await claimOne(one))!
    await pass(3200)
    await transact(async (lost) => {
      const { queryRunner } = lost as { readonly queryRunner: QueryRunner }
      await queryRunner.query(`select id from ${own()}.job where id = $1 for update`, [id])
      const free = newJob()
      await other.add(free)
      expect(await claimOne(other)).to.include({ id: free.id })
    })
    let again
    while ((again = await claimOne(other)) === undefined) await pass(100)
    expect(again).to.include({ id, attempt: 2 })
  })
})
