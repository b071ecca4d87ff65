import type { SilenceWatch } from './silence-watch.ts'

/** The limits of the pools of one DataSource, in milliseconds; read when they are needed, as the brick sets them later. */
export interface PoolLimits {
  /** Longest wait for a connection that works. */
  readonly poolTimeout: () => number
  /** Longest silence of a connection whose server cannot say what it does. */
  readonly silence: () => number
  /** Longest time of a statement, or undefined for the server's own limit. */
  readonly statementTimeout: () => number | undefined
  /** True if every session refuses writes. */
  readonly refusesWrites: () => boolean
  /** Called with the watch of each pool. */
  readonly onPool: (watch: SilenceWatch) => void
}
