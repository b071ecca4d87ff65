import { ignore } from 'mortar/kit'

/**
 * Runs work, and then restores what it needed. If both fail, as on a lost connection, the error of the work is thrown: it
 * names the migration.
 */
export async function restoreAfter<T>(work: () => Promise<T>, restore: () => Promise<unknown>): Promise<T> {
  let result: T
  try {
    result = await work()
  } catch (error) {
    await restore().catch(ignore)
    throw error
  }
  await restore()
  return result
}
