import { typeorm } from '@mortar/database'
import { MortarJobs } from '@mortar/jobs/schema'
import { Overlaps } from './overlaps.ts'

const { EntitySchema } = typeorm

/** The orders that committed. Each is written in the transaction that adds its job. */
export const Orders = new EntitySchema<{ id: number }>({
  name: 'ledger_orders',
  columns: { id: { type: Number, primary: true } },
})

/** One row for each attempt of a job that reached its end. */
export const Runs = new EntitySchema<{ id: number; kind: string; subject: string }>({
  name: 'ledger_runs',
  columns: {
    id: { type: Number, primary: true, generated: true },
    kind: { type: String, length: 10 },
    subject: { type: String, length: 40 },
  },
  indices: [{ columns: ['kind', 'subject'] }],
})

export const TABLES = [MortarJobs, Orders, Runs, Overlaps]
