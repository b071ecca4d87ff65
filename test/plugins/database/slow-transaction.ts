import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DataSource } from 'typeorm'
import { insert } from './notes.ts'

/** The outcome of a promise, so that several can be compared together. */
export const outcomes = async (promises: Promise<unknown>[]) =>
  (await Promise.allSettled(promises)).map(({ status }) => status)

/** A transaction that writes one note, gives others their turn, and then rolls back or commits. */
export function slowTransaction(
  dataSource: DataSource,
  text: string,
  end: 'commit' | 'roll back',
): Promise<unknown> {
  return dataSource.transaction(async (manager) => {
    await insert(manager, text)
    await nextTurn()
    if (end === 'roll back') throw new Error('rolled back')
  })
}
