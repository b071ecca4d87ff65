import { mock } from 'node:test'
import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import type { JobEngine } from '@mortar/jobs'
import { newJob } from './engine-contract.ts'

/** Removes a waiting job whose row in the table of jobs cannot be deleted at first. */
export async function testRemoval(db: DataSource, engine: JobEngine): Promise<void> {
  await engine.open()
  const job = newJob({ key: 'k' })
  await engine.add(job)
  // Hands the job over to another store.
  await engine.claim(['report'], 1)
  const away = refuseDeletes(db)
  expect(await engine.remove(job.id).catch(String)).to.equal('Error: away')
  away.mock.restore()
  expect(await engine.remove(job.id)).to.equal(true)
  expect(await engine.list()).to.deep.equal([])
  expect(await engine.add(newJob({ key: 'k' }))).to.equal(true)
  await engine.close!()
}

/** Refuses to delete rows of the table of jobs, until it is restored. */
export function refuseDeletes(db: DataSource) {
  const create = db.createQueryRunner.bind(db)
  return mock.method(db, 'createQueryRunner', (...given: Parameters<typeof create>) => {
    const runner = create(...given)
    const query = runner.query.bind(runner)
    runner.query = (async (sql: string, ...rest: []) => {
      if (/^DELETE FROM \S*mortar_jobs\S* WHERE id IN/.test(sql)) throw new Error('away')
      return query(sql, ...rest)
    }) as typeof runner.query
    return runner
  })
}
