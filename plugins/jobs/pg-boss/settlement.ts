import type { CarriedRows } from '../database/carried.ts'
import type { DataSourceLike } from '../database/statements.ts'
import type { ClaimedJob, JobEngine, Outcome } from '../engine.ts'
import { inRounds } from '../in-rounds.ts'
import type { Transaction } from 'mortar/kit'
import type { RunSql } from './boss.ts'

/** Dependencies of the ends of attempts. */
export interface Settling {
  readonly db: DataSourceLike
  readonly sql: RunSql
  /** The table of pg-boss. */
  readonly table: string
  /** The rows that keep keys. */
  readonly rows: CarriedRows
  isKeyed(claimed: ClaimedJob): boolean
}

/** True for an attempt that no other process has overtaken, whose values begin at a place of the statement. */
export function mine(at = 1): string {
  return `(name = $${at} AND id = $${at + 1} AND retry_count = $${at + 2} AND state = 'active')`
}

const valuesOf = ({ name, id, attempt }: ClaimedJob): readonly unknown[] => [name, id, attempt - 1]

/** Returns the function that ends attempts, those that are done together. */
export function settling(parts: Settling): JobEngine['settle'] {
  const { db, sql, table, rows, isKeyed } = parts
  const done = inRounds((jobs: readonly ClaimedJob[]) =>
    jobs.some(isKeyed) ? db.transaction((tx) => deleteDone(parts, jobs, tx)) : deleteDone(parts, jobs),
  )
  return async (claimed, outcome) => {
    if (outcome.is === 'done') return done(claimed)
    const [change, values] = changeOf(outcome)
    const statement = `UPDATE ${table} SET ${change} WHERE ${mine()}`
    const settle = async (tx?: Transaction): Promise<boolean> =>
      (await sql(statement, [...valuesOf(claimed), ...values], tx)).affected !== 0
    if (outcome.is !== 'failed' || !isKeyed(claimed)) return settle()
    return db.transaction(async (tx) => {
      const isMine = await settle(tx)
      if (isMine) await rows.release([claimed.id], tx)
      return isMine
    })
  }
}

/** Deletes jobs and the rows of their keys. @returns for each if it was deleted. */
async function deleteDone(
  { sql, table, rows, isKeyed }: Settling,
  jobs: readonly ClaimedJob[],
  tx?: Transaction,
): Promise<readonly boolean[]> {
  const these = jobs.map((_, index) => mine(3 * index + 1)).join(' OR ')
  const { records } = await sql(
    `DELETE FROM ${table} WHERE ${these} RETURNING id, retry_count`,
    jobs.flatMap(valuesOf),
    tx,
  )
  // A process that was late may end two attempts of one job together.
  const isDeleted = ({ id, attempt }: ClaimedJob): boolean =>
    records.some((row) => row['id'] === id && Number(row['retry_count']) === attempt - 1)
  const keyed = jobs.filter((job) => isKeyed(job) && isDeleted(job)).map(({ id }) => id)
  if (keyed.length > 0) await rows.release(keyed, tx)
  return jobs.map(isDeleted)
}

/** Returns the changed columns of an attempt that is not done, and their values from `$4` on. */
function changeOf(
  outcome: Exclude<Outcome, { readonly is: 'done' }>,
): readonly [change: string, values: readonly unknown[]] {
  switch (outcome.is) {
    case 'repeated':
      return [
        "state = 'retry', start_after = now() + $4 * interval '1 ms', output = $5",
        [outcome.after, outputOf(outcome.error)],
      ]
    case 'failed':
      return ["state = 'failed', completed_on = now(), output = $4", [outputOf(outcome.error)]]
    case 'returned':
      // A job that has not started counts no attempt.
      return [
        "state = 'retry', start_after = now() + $4 * interval '1 ms', started_on = NULL",
        [outcome.after ?? 0],
      ]
  }
}

/** The form in which pg-boss keeps an error. */
function outputOf(message: string): string {
  return JSON.stringify({ message })
}
