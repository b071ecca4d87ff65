import { randomInt } from 'node:crypto'
import { ignore } from 'mortar/kit'
import type { RecordRow, Records, Where } from '../accounts/records.ts'

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

/** Makes a row valid again that `takeRow` has used up by this key. */
export async function giveRowBack(records: Records, key: RecordRow, row: RecordRow): Promise<void> {
  const { expires_at: end = null } = row
  if (!(await records.insert(row))) await records.update(key, { expires_at: end })
}

/**
 * Uses a row up that is not over at `now`. A random moment in the past marks it as used by this call, so that the row
 * decides if the reply is lost.
 * @returns false if there was no such row: of many concurrent calls one gets true.
 */
export async function takeRow(records: Records, key: RecordRow, now = 0): Promise<boolean> {
  const mark = { expires_at: -randomInt(1, 2 ** 47) }
  const isTaken = await despiteLostReply(
    async () => (await records.update({ ...key, expires_at: { above: now } }, mark)) === 1,
    async () => (await records.find({ ...key, ...mark })).length === 1,
  )
  if (isTaken) await records.remove({ ...key, ...mark }).catch(ignore)
  return isTaken
}
