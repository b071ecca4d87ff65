import { mock } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import type { QueryRunner } from 'typeorm'
import type { JobEngine } from '@mortar/jobs'
import { pgBoss } from '@mortar/jobs/pg-boss'
import * as schema from '@mortar/jobs/schema'
import { KINDS } from '../database/databases.ts'
import { claimOne, NAMES, newJob, testPromises, type EnginePair } from './engine-contract.ts'
import { pgBossOfTests } from './engines.ts'

describe('the engine of jobs in pg-boss', () => {
  const place = KINDS['PostgreSQL']!()
  const own = pgBossOfTests(() => place())
  let pair: EnginePair

  beforeEach(async () => {
    const first = await place().open(schema)
    await first.synchronize()
    const [one, other] = [first, await place().open(schema)].map((db) =>
      // pg-boss counts whole seconds, so each lease is 2 s.
      pgBoss({ schema: own(), lease: 1500 })({ db, names: () => NAMES }),
    ) as [JobEngine, JobEngine]
    await Promise.all([one.open(), other.open()])
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

  it('adds jobs to a queue that could not be made before', async () => {
    const db = await place().open(schema)
    const engine = pgBoss({ schema: own(), lease: 1500 })({ db, names: () => NAMES })
    await engine.open()
    const away = mock.method(db, 'createQueryRunner', () => {
      throw new Error('away')
    })
    const add = () => engine.add(newJob({ name: 'late' }))
    expect(await add().catch(String)).to.equal('Error: away')
    away.mock.restore()
    expect(await add()).to.equal(true)
    await engine.close!()
  })

  it('claims jobs while the row of a job whose lease has ended is locked', async () => {
    const { one, other, pass, transact } = pair
    await one.add(newJob())
    const { id } = (await claimOne(one))!
    await pass(4500)
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
