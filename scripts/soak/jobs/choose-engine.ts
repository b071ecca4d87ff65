import type { EngineMaker } from '@mortar/jobs'
import { bullmq } from '@mortar/jobs/bullmq'
import { pgBoss } from '@mortar/jobs/pg-boss'

/** The engine of the jobs: the table of the database, BullMQ with its Redis, or pg-boss. */
export type EngineChoice =
  | { readonly kind: 'database' }
  | { readonly kind: 'bullmq'; readonly url: string; readonly prefix?: string }
  | { readonly kind: 'pg-boss'; readonly schema?: string }

/**
 * @param lease milliseconds, in place of those of production.
 * @returns undefined for the table of the database.
 */
export function chooseEngine(choice: EngineChoice, lease?: number): EngineMaker | undefined {
  const times = lease === undefined ? {} : { lease }
  if (choice.kind === 'bullmq') {
    const { kind: _kind, url, ...options } = choice
    return bullmq({ connection: { url }, ...options, ...times })
  }
  if (choice.kind === 'database') return undefined
  const { kind: _kind, ...options } = choice
  return pgBoss({ ...options, ...times })
}
