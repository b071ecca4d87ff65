import { job } from '@mortar/jobs'
import type { DataSource } from 'typeorm'
import { Runs } from '../tables.ts'

/** Writes down its id: two moments have two ids, and two attempts of one moment have the same. */
export default job({ every: '* * * * * *', attempts: 50, backoff: '1s' }, async ({ id, services }) => {
  const { db } = services as unknown as { readonly db: DataSource }
  await db.getRepository(Runs).insert({ kind: 'tick', subject: id })
})
