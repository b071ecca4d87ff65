import type { Peers, Transaction } from 'mortar/kit'
import type { DataSourceLike } from './database/statements.ts'

/** A job to add. */
export interface NewJob {
  readonly id: string
  readonly name: string
  readonly key: string | undefined
  /** JSON. */
  readonly data: string
  /** Milliseconds from now, or a moment in milliseconds since the epoch. */
  readonly due: { readonly after: number } | { readonly at: number }
  readonly requestId: string | undefined
  readonly trace: string | undefined
}

/** A job that this process may work on until its lease ends. */
export interface ClaimedJob extends Omit<NewJob, 'key' | 'due'> {
  /** From 1. */
  readonly attempt: number
}

/** The end of an attempt. */
export type Outcome =
  | { readonly is: 'done' }
  | { readonly is: 'repeated'; readonly after: number; readonly error: string }
  | { readonly is: 'failed'; readonly error: string }
  /** The attempt does not count: its process stops, or its work waits for these milliseconds. */
  | { readonly is: 'returned'; readonly after?: number }

/** State of a job. A job that is done has no row. */
export type JobState = 'waiting' | 'running' | 'failed'

/** A job as `list` shows it. */
export interface ListedJob {
  readonly id: string
  readonly name: string
  readonly state: JobState
  readonly attempt: number
  readonly dueAt: Date
  readonly addedAt: Date
  /** Why the last attempt failed, if one did. */
  readonly error: string | undefined
}

/** Selection of jobs; 100 by default. */
export interface JobFilter {
  readonly name?: string
  readonly state?: JobState
  readonly limit?: number
}

/** Numbers of jobs, and seconds since the oldest waiting job was due. */
export interface JobCounts {
  readonly waiting: number
  readonly running: number
  readonly failed: number
  readonly oldest: number
}

/** A schedule of a job, as this process knows it. */
export interface PlannedSchedule {
  readonly name: string
  /** Pattern and time zone. Processes with other ones do not use each other's moments. */
  readonly pattern: string
  /** The first moment after another; undefined if no such job exists. Milliseconds since the epoch. */
  readonly next: (after: number) => number | undefined
  /** False to leave out moments that were missed. */
  readonly runsMissed: boolean
}

/**
 * A store of jobs. `test/plugins/jobs/engine-contract.ts` has the tests for every engine. All moments are by one clock
 * for all processes, never by that of a process.
 */
export interface JobEngine {
  /** @throws StartupError if the engine cannot work. */
  open(): Promise<void>
  /** Adds a job, with the commit of `tx` if given. @returns false if one with its key waits or runs. */
  add(job: NewJob, tx?: Transaction): Promise<boolean>
  /** Claims due jobs of these names, the oldest first. Each is given to one process at a time. */
  claim(names: readonly string[], limit: number): Promise<readonly ClaimedJob[]>
  /** Extends a lease. @returns false if another process has claimed the job. */
  renew(job: ClaimedJob): Promise<boolean>
  /** Ends an attempt. @returns false if another process has claimed the job; then nothing changes. */
  settle(job: ClaimedJob, outcome: Outcome): Promise<boolean>
  list(filter?: JobFilter): Promise<readonly ListedJob[]>
  /** The data of waiting jobs, the oldest first, as JSON. */
  waiting(name: string): Promise<readonly string[]>
  /** Makes a failed job wait again, with all attempts. @returns false if no such job exists. */
  retry(id: string): Promise<boolean>
  /** Deletes a job that waits or has failed. @returns false if no such job exists. */
  remove(id: string): Promise<boolean>
  counts(): Promise<JobCounts>
  /** Names of waiting jobs that are not in the list. */
  unknown(names: readonly string[]): Promise<readonly string[]>
  /** Deletes jobs that failed more than these milliseconds ago. */
  prune(keep: number): Promise<void>
  /**
   * Adds the jobs whose moment has come. Of several processes exactly one adds each moment. The first call of a process
   * stores the next moment of each schedule that is new or has another pattern.
   */
  addScheduled(schedules: readonly PlannedSchedule[]): Promise<void>
  /** Ends the engine's own connections, after the worker has stopped. */
  close?(): Promise<void>
}

/** The part of an engine for those who look after it. */
export type Administration = Pick<
  JobEngine,
  'list' | 'waiting' | 'retry' | 'remove' | 'counts' | 'unknown' | 'prune'
>

/** The parts of an application that an engine may use. */
export interface EngineParts {
  /** The service `db`. */
  readonly db: DataSourceLike
  /** Names of the jobs that this process can run. */
  names(): readonly string[]
}

/** Makes an engine that needs the application: `bullmq()` and `pgBoss()`. Under test the table of jobs is used instead. */
export interface EngineMaker {
  (parts: EngineParts): JobEngine
  /** The packages of the engine, which are checked at the start. */
  readonly peers: Peers
}

/** Milliseconds for which a claimed job belongs to its process, and between two renewals. */
export const LEASE = 30_000
/**
 * Further milliseconds of the first lease, at random. Jobs of one dead process come back one by one, so that one that ends
 * its process each time does not take the others with it until all have failed.
 */
export const SPREAD = 10_000
export const RENEWAL = 10_000
