import { job } from '@mortar/jobs'
import { number, object } from 'mortar/yup'
import type { DataSource } from 'typeorm'
import { Runs } from '../tables.ts'

/** Writes down that the job of an order has run. */
export default job(
  { data: object({ order: number().required() }), attempts: 50, backoff: '1s' },
  async ({ data, services }) => {
    const { db } = services as unknown as { readonly db: DataSource }
    await db.getRepository(Runs).insert({ kind: 'order', subject: String(data.order) })
  },
)
