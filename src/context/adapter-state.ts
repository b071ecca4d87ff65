import type { Logger } from '../contracts/logger.ts'
import type { OpenRequests } from './request-signal.ts'

/** The state of the application that adapters read while it serves. */
export interface AdapterState {
  /** True once the application drains: each connection closes after its current response. */
  draining: boolean
  /** True once the application is closing, after it has drained. */
  closing: boolean
  /** Work that ends when the application begins to close. */
  readonly open: OpenRequests
  /** Logs errors that occur after a response has begun. */
  readonly reporter: Logger
}
