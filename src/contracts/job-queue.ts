import type { Around } from './observed-request.ts'
import type { Duration } from '../support/duration.ts'

/** An attempt of queued work. */
export interface QueuedAttempt {
  /** Id of the work, the same in each attempt. */
  readonly id: string
  /** From 1. */
  readonly number: number
  /** True if an error does not repeat the work. */
  readonly isLast: boolean
}

/**
 * Work of a brick that outlives the process: `data` comes as JSON from the queue. An error repeats it. One with the number
 * `postponedFor` repeats it after these milliseconds, and the attempt does not count.
 */
export type QueuedWork = (data: unknown, signal: AbortSignal, attempt: QueuedAttempt) => unknown

/** Limits of queued work. */
export interface QueuedWorkOptions {
  /** Number of attempts; 20 by default, which take about half a day. */
  readonly attempts?: number
  /** Longest delay between two attempts; the delay doubles from 10 s, up to an hour by default. */
  readonly longestBackoff?: Duration
  /** Number of attempts at the same time in one process; by default only the limit of the queue. */
  readonly concurrency?: number
  /** Time limit of an attempt; `'5m'` by default. */
  readonly timeout?: Duration
}

/** The service `jobQueue` of a brick. Another brick hands it work that must not be lost with the process. */
export interface JobQueue {
  /**
   * Defines work by a name such as `mail:send`, which begins with that of the brick.
   * @returns a function that adds the work with its data, and with the commit of the transaction `tx` if given.
   */
  define(
    name: string,
    work: QueuedWork,
    options?: QueuedWorkOptions,
  ): (data: unknown, tx?: unknown) => Promise<{ readonly id: string }>
  /** Present under test, where nothing runs by itself: runs the defined work that is due, but no job of the application. */
  runDue?(): Promise<void>
}

/** Name for `tracingChannel()` of `node:diagnostics_channel`: the channel on which every attempt of a job is published. */
export const JOB_CHANNEL = 'mortar.job'
/** Name of the channel on which every added job is published before it is stored. A subscriber can set its `trace`. */
export const JOB_ADDED_CHANNEL = 'mortar.job.added'

/** The message of both channels. */
export interface ObservedJob {
  readonly id: string
  readonly name: string
  /** From 1; 0 for a job that is added. */
  readonly attempt: number
  /** The services of the application: the object that `start` of its bricks gets. */
  readonly services: object
  /** The trace that added the job, as W3C `traceparent`. */
  trace: string | undefined
  /** Runs the attempt. A subscriber of `start` can set it, to run the attempt inside a context of its own. */
  around?: Around
  /** Fields for the log lines of an attempt: a subscriber of `start` can set them. */
  logFields?: Readonly<Record<string, unknown>>
}
