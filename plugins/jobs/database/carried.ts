import type { Statements } from './statements.ts'
import type { Transaction } from 'mortar/kit'

/**
 * The rows of jobs that another store carries, with the state `carried`. They stay until the job is done: they keep its
 * key, and bring it back if the other store loses it.
 */
export type CarriedRows = ReturnType<typeof carriedRows>

const OLD = 300_000
const MOST = 1000

export function carriedRows({ run, rowsById }: Statements) {
  const rowsOf = (ids: readonly string[]) => rowsById('{jobs}', ids)
  return {
    /** Marks the rows of jobs that the other store has. */
    handOver: async (ids: readonly string[]) =>
      void (await run(rowsOf(ids).update("state = 'carried', run_at = {now}", "state = 'waiting'"), ids)),
    /** Marks rows again, so that `old` returns others first. */
    markAgain: async (ids: readonly string[]) =>
      void (await run(rowsOf(ids).update('run_at = {now}', "state = 'carried'"), ids)),
    /** Lets a job wait in the table again. */
    takeBack: async (id: string) =>
      void (await run(
        "UPDATE {jobs} SET state = 'waiting', worker = NULL WHERE id = ? AND state = 'carried'",
        [id],
      )),
    /** Deletes the rows of jobs, which frees their keys. */
    release: async (ids: readonly string[], tx?: Transaction) =>
      void (await run(rowsOf(ids).delete(), ids, tx)),
    /** Some of the jobs whose rows were marked more than five minutes ago. */
    async old() {
      const { records } = await run(
        `SELECT id, name FROM {jobs} WHERE state = 'carried' AND run_at < {now} - ${OLD} ORDER BY run_at LIMIT ${MOST}`,
      )
      return records.map(({ id, name }) => ({ id: String(id), name: String(name) }))
    },
  }
}
