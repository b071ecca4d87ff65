import type { Logger } from '../../contracts/logger.ts'
import type { ServiceManager } from '../service-manager.ts'
import type { PrimaryClock } from './clock.ts'
import type { WorkerProcess } from './worker-process.ts'

/** Parts that the primary process works with. */
export interface PrimaryContext {
  readonly count: number
  /** Seconds that a reload waits for a new worker. */
  readonly reloadTimeout: number
  readonly fork: (number: number) => WorkerProcess
  readonly log: Logger
  /** Shows the developer why a start failed. */
  readonly explain: (reason: string) => void
  readonly clock: PrimaryClock
  readonly manager: ServiceManager
}
