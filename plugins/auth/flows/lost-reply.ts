import type { Records, Where } from '../accounts/records.ts'

/**
 * Runs a statement whose effect can be read afterwards. If its reply is lost, `isDone` decides.
 * @returns false if the condition of the statement was not met.
 * @throws the error of the statement if it had no effect, and that of `isDone`.
 */
export async function despiteLostReply(
  statement: () => Promise<boolean>,
  isDone: () => Promise<boolean>,
): Promise<boolean> {
  try {
    return await statement()
  } catch (error) {
    if (await isDone()) return true
    throw error
  }
}

/** Removes one row, also if the reply is lost. @returns false if there was no such row. */
export function removeRow(records: Records, row: Where): Promise<boolean> {
  return despiteLostReply(
    async () => (await records.remove(row)) === 1,
    async () => (await records.find(row)).length === 0,
  )
}
