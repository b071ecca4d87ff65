/** Work of a brick that outlives the process: `data` comes as JSON from the queue. An error repeats it. */
export type QueuedWork = (data: unknown, signal: AbortSignal) => unknown

/** The service `jobQueue` of a brick. Another brick hands it work that must not be lost with the process. */
export interface JobQueue {
  /**
   * Defines work by a name such as `mail:send`, which begins with that of the brick.
   * @returns a function that adds the work with its data, and with the commit of the transaction `tx` if given.
   */
  define(name: string, work: QueuedWork): (data: unknown, tx?: unknown) => Promise<{ readonly id: string }>
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
}
