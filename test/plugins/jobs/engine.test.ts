import { mock } from 'node:test'
import { expect } from 'chai'
import { databaseEngine } from '../../../plugins/jobs/database/engine.ts'
import { addDue } from '../../../plugins/jobs/database/schedules.ts'
import { kindOf, statementsOf, type DataSourceLike } from '../../../plugins/jobs/database/statements.ts'
import { LEASE, SPREAD } from '../../../plugins/jobs/engine.ts'
import * as schema from '@mortar/jobs/schema'
import { KINDS_AND_DRIVERS } from '../database/databases.ts'
import { EVERY_MINUTE, testClock } from './engine-clock.ts'
import { claimOne, NAMES, newJob, testPromises, type EnginePair } from './engine-contract.ts'

for (const [kind, prepare] of Object.entries(KINDS_AND_DRIVERS))
  describe(`the engine of jobs in a database: ${kind}`, () => {
    const place = prepare()
    let pair: EnginePair

    beforeEach(async () => {
      let time = Date.now()
      const first = await place().open(schema)
      await first.synchronize()
      const [one, other] = [first, await place().open(schema)].map((db) =>
        databaseEngine(db as unknown as DataSourceLike, () => time),
      ) as [EnginePair['one'], EnginePair['other']]
      pair = {
        one,
        other,
        lease: LEASE + SPREAD,
        pass: async (by) => void (time += by),
        now: () => time,
        transact: (work) => first.transaction((tx) => work(tx as never)),
      }
    })

    // SQLite has one writer.
    if (!kind.startsWith('SQLite'))
      it('deletes failed jobs while a transaction is open that has added one, and no other job waits for it', async () => {
        const { one, other, pass, transact } = pair
        for (let count = 0; count < 9; count++) await one.add(newJob())
        for (const job of await one.claim(NAMES, 9)) await one.settle(job, { is: 'failed', error: 'x' })
        await pass(60_000)
        await transact(async (tx) => {
          await one.add(newJob(), tx)
          await one.prune(1000)
          await other.add(newJob())
        })
        expect(await one.counts()).to.include({ waiting: 2, failed: 0 })
      })

    if (kind.startsWith('SQLite'))
      it('looks for jobs while a transaction has the file, and finds none', async () => {
        const { one, other, transact } = pair
        await transact(async (tx) => {
          await one.add(newJob(), tx)
          expect(await other.claim(NAMES, 1)).to.deep.equal([])
        })
        expect(await other.claim(NAMES, 1)).to.have.length(1)
      })

    it('keeps a failed job that is retried while others are deleted', async () => {
      const { other, pass, now } = pair
      const db = await place().open(schema)
      const engine = databaseEngine(db, now)
      const job = newJob()
      await engine.add(job)
      await engine.settle((await claimOne(engine))!, { is: 'failed', error: 'x' })
      await pass(60_000)
      const create = db.createQueryRunner.bind(db)
      mock.method(db, 'createQueryRunner', (...given: Parameters<typeof create>) => {
        const runner = create(...given)
        const query = runner.query.bind(runner)
        runner.query = (async (...statement: [string]) => {
          if (statement[0].startsWith('DELETE')) expect(await other.retry(job.id)).to.equal(true)
          return query(...statement)
        }) as typeof runner.query
        return runner
      })
      await engine.prune(1000)
      expect((await other.list()).map(({ state }) => state)).to.deep.equal(['waiting'])
    })

    it('does not add a moment again whose job another process has added and done meanwhile', async () => {
      const { one, other, pass, now } = pair
      const db = await place().open(schema)
      const source = db as unknown as DataSourceLike
      const { run } = statementsOf(source, kindOf(source)!, now)
      await one.addScheduled([EVERY_MINUTE])
      await pass(60_000)
      let added = 0
      const standing = async <T>(work: (tx: never) => Promise<T>): Promise<T> => {
        await other.addScheduled([EVERY_MINUTE])
        await other.settle((await claimOne(other))!, { is: 'done' })
        return db.transaction((tx) => work(tx as never))
      }
      await addDue(run, { transact: standing, add: async () => void added++ }, [EVERY_MINUTE])
      expect(added).to.equal(0)
    })

    testPromises(() => pair)
    testClock(() => pair)
  })
