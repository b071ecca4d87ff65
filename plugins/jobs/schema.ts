import type { EntitySchema, EntitySchemaOptions } from 'typeorm'
import { BINARY, LONG, makeEntity } from 'mortar/kit'

/** A row of `mortar_jobs`. Times are milliseconds since the epoch, by the database's clock. */
export interface JobRow {
  id: string
  /** Path of the job's file without extension. */
  name: string
  /** Refuses a second row of the same name and key. */
  job_key: string | null
  /** JSON. */
  data: string
  state: 'waiting' | 'failed' | 'schedule' | 'carried'
  /** From then on the row may be claimed. A worker that has claimed it moves this moment on while it works. */
  run_at: number
  attempt: number
  /** The process that works on the job. */
  worker: string | null
  added_at: number
  /** Why the last attempt failed. */
  error: string | null
  /** The request that added the job, and its trace (W3C `traceparent`). */
  request_id: string | null
  trace: string | null
}

const NEED = { of: "the brick 'jobs'", peers: { from: import.meta.url, packages: ['typeorm'] } }
const MILLISECONDS = { type: 'bigint' } as const

const OPTIONS: EntitySchemaOptions<JobRow> = {
  name: 'mortar_jobs',
  columns: {
    id: { type: String, length: 36, primary: true },
    name: { type: String, length: 200, ...BINARY },
    job_key: { type: String, length: 200, nullable: true, ...BINARY },
    data: { type: 'text', ...LONG },
    state: { type: String, length: 8 },
    run_at: MILLISECONDS,
    attempt: { type: Number },
    worker: { type: String, length: 36, nullable: true },
    added_at: MILLISECONDS,
    error: { type: 'text', nullable: true },
    request_id: { type: String, length: 200, nullable: true },
    trace: { type: String, length: 64, nullable: true },
  },
  indices: [{ columns: ['state', 'run_at', 'name'] }, { columns: ['name', 'job_key'], unique: true }],
}

/** The table of the embedded engine. */
export const MortarJobs: EntitySchema<JobRow> = makeEntity(OPTIONS, NEED)
