import type { Outcome } from '../engine.ts'

/** Returns the statement without its condition, and its values from `$4` on. */
export function settlement(
  table: string,
  outcome: Outcome,
): readonly [statement: string, values: readonly unknown[]] {
  const begin = `UPDATE ${table} SET`
  switch (outcome.is) {
    case 'done':
      return [`DELETE FROM ${table}`, []]
    case 'repeated':
      return [
        `${begin} state = 'retry', start_after = now() + $4 * interval '1 ms', output = $5`,
        [outcome.after, outputOf(outcome.error)],
      ]
    case 'failed':
      return [`${begin} state = 'failed', completed_on = now(), output = $4`, [outputOf(outcome.error)]]
    case 'returned':
      // A job that has not started counts no attempt.
      return [
        `${begin} state = 'retry', start_after = now() + $4 * interval '1 ms', started_on = NULL`,
        [outcome.after ?? 0],
      ]
  }
}

/** The form in which pg-boss keeps an error. */
function outputOf(message: string): string {
  return JSON.stringify({ message })
}
