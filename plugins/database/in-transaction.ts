import type { QueryRunner } from 'typeorm'

/** Runs work in a transaction of this runner; an error is thrown again after the rollback. */
export async function inTransaction<T>(runner: QueryRunner, work: () => Promise<T>): Promise<T> {
  await runner.startTransaction()
  try {
    const result = await work()
    await runner.commitTransaction()
    return result
  } catch (error) {
    // The error of a failed rollback adds no information.
    await runner.rollbackTransaction().catch(() => undefined)
    throw error
  }
}
