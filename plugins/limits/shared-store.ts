import type { Counted, LimitStore } from 'mortar/kit'

/** Counters of all processes, with their connection. */
export interface SharedStore extends LimitStore {
  /** Returns the count of a stored key without a change; undefined for none. */
  read(key: string): Promise<Counted | undefined>
  /**
   * Prepares the store. A store that cannot be reached is not an error, because limits then count in memory.
   * @throws StartupError for a store that would never work.
   */
  open?(): Promise<void>
  /** Closes what the store has opened. */
  close?(): void
}
