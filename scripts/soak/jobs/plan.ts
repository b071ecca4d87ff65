import type { ConnectionOptions } from '@mortar/database'
import type { EngineChoice } from './choose-engine.ts'

/** Plan of one run. Times are milliseconds. */
export interface LedgerPlan {
  readonly connection: ConnectionOptions
  readonly engine: EngineChoice
  /** Milliseconds of a lease of BullMQ and pg-boss, if not those of production. */
  readonly lease?: number
  /** Orders that are tried; a quarter of them is rolled back. */
  readonly orders: number
  /** Processes that make orders, and work on jobs too. */
  readonly producers: number
  /** Further processes, which are killed. */
  readonly workers: number
  /** Processes that are ready to replace killed workers; 0 to replace none. */
  readonly spares: number
  /** Time between two kills of a worker. */
  readonly killEvery: number
  /** The time after which the end is not waited for any longer. */
  readonly limit: number
  /**
   * True to let the leases of killed workers end when every order is made, in place of waiting for them. Workers that
   * live lose their leases too, so more jobs run twice.
   */
  readonly endsLeases?: boolean
  /** Called with each kill. */
  readonly disturb?: () => void
  /** Resolves when no fault is in progress. */
  readonly repaired?: () => Promise<void>
  readonly log?: (line: string) => void
  /** The compiled program of a process, by its path; else tsx compiles it in each. */
  readonly member?: string
}

/** The orders that a producer makes. */
export interface Share {
  readonly first: number
  readonly count: number
}
