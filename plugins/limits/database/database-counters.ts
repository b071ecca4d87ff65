import type { SharedStore } from '../shared-store.ts'

/** Counters in one kind of database, over connections of their own. */
export interface DatabaseCounters extends SharedStore {
  /** Checks or creates the table. @throws the driver's error. */
  prepare(): Promise<void>
  /** True for the driver's error of a missing table. */
  isMissingTable(error: unknown): boolean
  /** Deletes up to `most` expired rows. @returns the number of deleted rows. */
  deleteExpired(now: number, most: number): Promise<number>
  disconnect(): void
}
