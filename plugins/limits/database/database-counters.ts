import type { SideConnections } from 'mortar/kit'
import type { SharedStore } from '../shared-store.ts'

/** Name of the table, on SQLite in a file of its own. */
export const TABLE = 'mortar_limits'

/** The used part of a TypeORM DataSource: the service `db`. */
export interface DataSourceLike {
  readonly options: { readonly type: string; readonly database?: unknown; readonly schema?: string }
}

/** Makes counters; undefined for a database in memory. */
export type MakeCounters = (source: DataSourceLike, beside: SideConnections) => DatabaseCounters | undefined

/** Counters in one kind of database, over connections of their own. */
export interface DatabaseCounters extends SharedStore {
  /** Checks or creates the table. @throws the driver's error. */
  prepare(): Promise<void>
  /** Deletes up to `most` expired rows. @returns the number of deleted rows. */
  deleteExpired(now: number, most: number): Promise<number>
  disconnect(): void
}
